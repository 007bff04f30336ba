import type { Deps } from '../../../app/deps.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import type { Agent } from './detection-row.ts';
import { readCustomCron } from './cadence.ts';
import type { UpdateDetection } from './detection-input.ts';
import { storedSchema } from './verdict.schema.ts';

/** The columns that a body sets; a field that is absent sets none. 400 for values that only the service can judge. `now` is slot time. */
export function columnsOf(input: UpdateDetection, now: Date): Partial<Agent> {
  return withoutAbsent({
    name: input.name,
    description: input.description === null ? '' : input.description,
    detection_category: input.detectionCategory,
    detection_query: input.detectionQuery,
    siem_type: input.siemType,
    connection_id: input.connectionId,
    tool_names: input.toolNames === null ? [] : input.toolNames,
    tags: input.tags,
    model_alias: input.modelAlias,
    planning_mode: input.planningMode,
    mode: input.mode,
    inputs: jsonOf(input.inputs),
    context_docs: jsonOf(input.contextDocs),
    structured_output_schema: input.structuredOutputSchema && storedSchema(input.structuredOutputSchema),
    entity_field: input.entityField,
    time_field: input.timeField,
    lookback_minutes: input.lookbackMinutes,
    suppression_minutes: input.suppressionMinutes,
    ...budgetColumns(input),
    ...scheduleColumns(input, now),
  });
}

/** The column that a body with budgets sets; none in it, none at all. */
export function budgetColumns({ budgets }: Pick<UpdateDetection, 'budgets'>): Partial<Agent> {
  if (budgets === undefined) return {};
  const text = JSON.stringify(budgets);
  return { budgets: text === '{}' ? null : text };
}

/** The two schedule columns, as far as a body sets them. */
export function scheduleColumns(
  input: Pick<UpdateDetection, 'detectionCadence' | 'customCronSchedule'>,
  now: Date,
): Partial<Agent> {
  const custom = input.customCronSchedule;
  return withoutAbsent({
    detection_cadence: input.detectionCadence,
    custom_cron_schedule: typeof custom === 'string' ? readCustomCron(custom, now) : custom,
  });
}

/** What stands for itself without any setting: `analyst` is the built-in analyst, `default` is it as long as no model is configured. */
const builtInAliases: readonly string[] = ['default', 'analyst'];

/** 400 for an alias that the settings do not have. */
export function checkModelAlias(models: Deps['models'], alias: string | undefined): void {
  const known = models?.aliases ?? builtInAliases;
  if (alias === undefined || known.includes(alias)) return;
  throw fieldError(
    '/modelAlias',
    'unknown_model_alias',
    `There is no model alias "${alias}"; known: ${known.join(', ')}.`,
  );
}

const jsonOf = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value));

function withoutAbsent(columns: { [K in keyof Agent]?: Agent[K] | undefined }): Partial<Agent> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as Partial<Agent>;
}
