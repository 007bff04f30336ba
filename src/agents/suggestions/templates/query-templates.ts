import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { categories, detectionCategories } from '../../../detection/analysis/registry.ts';
import type { TestCase } from '../../../detection/detections/test-cases.schema.ts';
import type { DetectionDraft } from '../draft.ts';
import {
  buildEvent,
  findLogShape,
  type LogDataset,
  type LogKind,
  logKinds,
  type LogShape,
  partSql,
  quoteSqlText,
} from '../log-kinds.ts';

const texts = z.array(z.string());
const sampleSchema = z.union([z.string(), z.record(z.string(), z.union([z.string(), z.number()]))]);

/** The parts of an event by name. A string is short for the main part of the log kind. */
type EventSample = z.infer<typeof sampleSchema>;

/** Samples of a file. One with `times` stands for as many events, in which `{n}` is the number of the event from 0. */
const samplesSchema = z.array(sampleSchema).transform((samples) =>
  samples.flatMap((sample) => {
    if (typeof sample === 'string') return [sample];
    const { times = 1, ...parts } = sample;
    return Array.from({ length: Number(times) }, (_, n) => numberParts(parts, n));
  }),
);

const numberParts = (parts: Exclude<EventSample, string>, n: number): EventSample =>
  Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace('{n}', String(n)) : value,
    ]),
  );

const QueryTemplate = z.strictObject({
  id: z.string(),
  techniques: texts.min(1),
  name: z.string(),
  kind: z.enum(Object.keys(logKinds) as LogKind[]),
  /** The platform of those samples of processes and files that state no other as `platform`. */
  platform: z.enum(['windows', 'unix']).default('windows'),
  /** Required parts besides the main one. */
  needs: texts.default([]),
  category: z.enum(detectionCategories).default('custom'),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  /** Regular expressions (RE2) that parts in lower case must match. A string is short for the main part of the log kind. */
  where: z.union([z.string(), z.record(z.string(), z.string())]),
  /** Regular expressions that parts in lower case must not match. */
  except: z.record(z.string(), z.string()).default({}),
  /** Groups by other columns, or turns the query into a count per entity: SQL in which `{part}` is the expression of a part. */
  having: z.strictObject({ columns: z.string(), condition: z.string().optional() }).optional(),
  /** Benign causes, for the system prompt. */
  benign: z.string(),
  /** Events that the query finds. Each has its own entity unless the sample sets one. */
  match: samplesSchema,
  /** Similar events that the query does not find. */
  noMatch: samplesSchema,
});

/** A query for a technique that can be compiled for any dataset with logs of one kind. */
export type QueryTemplate = z.infer<typeof QueryTemplate>;

const families = [
  'execution',
  'persistence',
  'evasion',
  'credentials',
  'discovery',
  'movement',
  'impact',
  'cloud',
] as const;

let templates: readonly QueryTemplate[] | undefined;

/** Returns every query template. Each family of techniques has a file, which is read at the first call. */
export function loadTemplates(): readonly QueryTemplate[] {
  templates ??= families.flatMap((family) =>
    z.array(QueryTemplate).parse(parse(readFileSync(resolve(import.meta.dirname, `${family}.yaml`), 'utf8'))),
  );
  return templates;
}

/** Compiles a template for a dataset and one of its techniques. Returns undefined if the dataset lacks a required column. */
export function compileTemplate(
  template: QueryTemplate,
  dataset: LogDataset,
  technique: string,
): DetectionDraft | undefined {
  const shape = findLogShape(dataset, template.kind);
  const requiredParts = [...template.needs, ...Object.keys(partPatterns(template))];
  if (!shape || requiredParts.some((part) => !(part in shape.columns))) return undefined;
  const { name, severity, category, benign } = template;
  return {
    key: `template:${template.id}:${dataset.name}`,
    basis: { kind: 'template', id: template.id },
    technique,
    reads: dataset.name,
    body: {
      name: `${name} (${dataset.name})`,
      description: `Detects ${technique} in ${dataset.name}. Severity: ${severity}.`,
      detectionCategory: category,
      detectionCadence: 'hourly',
      entityField: 'entity',
      systemPrompt: `You judge one case of: ${name} (${technique}).
Benign: ${benign}.
State what was done, by whom, and where. Weigh the evidence for and against an attack, and name the next thing to check.`,
      detectionQuery: buildQuery(template, shape, technique),
      tags: ['template', `attack.${technique.toLowerCase()}`],
    },
    tests: buildTests(template, shape),
  };
}

/** Returns drafts of every template for a technique, one per dataset that the template can read. */
export function draftTemplatesFor(technique: string, datasets: readonly LogDataset[]): DetectionDraft[] {
  return loadTemplates()
    .filter(({ techniques }) => techniques.includes(technique))
    .flatMap((template) => datasets.flatMap((dataset) => compileTemplate(template, dataset, technique) ?? []));
}

function buildQuery(template: QueryTemplate, shape: LogShape, technique: string): string {
  const sql = (part: string): string => partSql(shape, part);
  const fill = (text: string): string => text.replaceAll(/\{([a-z_]+)\}/g, (_match, part: string) => sql(part));
  const { main, entities } = logKinds[template.kind];
  const entityColumns = entities.filter((part) => part in shape.columns).map(sql);
  const entity = entityColumns.length > 1 ? `coalesce(${entityColumns.join(', ')})` : entityColumns[0]!;
  const labels = `${quoteSqlText(technique)} AS technique, ${quoteSqlText(template.severity)} AS severity`;
  const from = `FROM "${shape.dataset}"\nWHERE ${buildCondition(template, shape)}`;
  const grouping =
    template.having ?? (categories[template.category].draft.hasFewColumns ? groupByMainParts(shape, main) : undefined);
  if (!grouping) {
    const parts = Object.keys(shape.columns).map((part) => `${sql(part)} AS ${part}`);
    return `SELECT ${entity} AS entity, ${parts.join(', ')}, _id, _time, ${labels}\n${from}`;
  }
  const having = grouping.condition === undefined ? '' : `\nHAVING ${fill(grouping.condition)}`;
  const times = 'min(_time) AS first_seen, max(_time) AS last_seen, list(_id ORDER BY _time, _id)[1:20] AS _ids';
  return `SELECT ${entity} AS entity, ${fill(grouping.columns)}, ${times}, ${labels}\n${from}\nGROUP BY ALL${having}`;
}

/** Groups by the main part and the target only. With more columns almost every row would be a first occurrence. */
function groupByMainParts(shape: LogShape, main: string): NonNullable<QueryTemplate['having']> {
  const parts = [main, 'target'].filter((part) => part in shape.columns);
  return { columns: parts.map((part) => `{${part}} AS ${part}`).join(', ') };
}

const partPatterns = ({ where, kind }: QueryTemplate): Record<string, string> =>
  typeof where === 'string' ? { [logKinds[kind].main]: where } : where;

function buildCondition(template: QueryTemplate, shape: LogShape): string {
  const matches = (part: string, pattern: string): string =>
    `regexp_matches(lower(${partSql(shape, part)}), ${quoteSqlText(pattern)})`;
  const parts = [
    ...Object.entries(partPatterns(template)).map(([part, pattern]) => matches(part, pattern)),
    ...Object.entries(template.except)
      .filter(([part]) => part in shape.columns)
      .map(([part, pattern]) => `NOT coalesce(${matches(part, pattern)}, false)`),
  ];
  return parts.length > 0 ? parts.join('\n  AND ') : `${partSql(shape, logKinds[template.kind].main)} IS NOT NULL`;
}

function buildTests(template: QueryTemplate, shape: LogShape): TestCase[] {
  const { match, noMatch, kind } = template;
  const matching = match.map((sample, n) => withEntity(sample, kind, `match-${n}`));
  const similar = noMatch.map((sample, n) => withEntity(sample, kind, `quiet-${n}`));
  const toEvents = (list: Record<string, unknown>[]) => list.map((parts) => buildEvent(shape, parts));
  const { entities } = logKinds[kind];
  const expected = matching.map((parts) =>
    String(
      entities.map((part) => (part in shape.columns ? parts[part] : undefined)).find((value) => value !== undefined),
    ),
  );
  const quiet = { name: 'Ignores similar events', events: toEvents(similar), expect: [] };
  if (!categories[template.category].draft.findsInFirstWindow) return [quiet];
  const expect = [...new Set(expected)].toSorted();
  return [{ name: 'Finds matching events', events: toEvents([...matching, ...similar]), expect }, quiet];
}

/** Returns the parts of a sample. Adds the given entity if the sample has none. */
function withEntity(sample: EventSample, kind: QueryTemplate['kind'], entity: string): Record<string, unknown> {
  const { main, entities } = logKinds[kind];
  const entityParts = entities.filter((part) => part !== main).map((part) => [part, entity] as const);
  return { ...Object.fromEntries(entityParts), ...toParts(sample, kind) };
}

/** Returns the parts of a sample. A text is the main part of the log kind. */
export const toParts = (sample: EventSample, kind: LogKind): Record<string, unknown> =>
  typeof sample === 'string' ? { [logKinds[kind].main]: sample } : sample;
