import type { AgentRow, AgentView } from '../record/detection-row.ts';
import type { Warning } from '../record/detection.schema.ts';

/** The field of the detection that a warning of a run or a check is about. Warnings about the data of one window are not listed. */
const fieldByCode: Record<string, string> = {
  no_data: 'detectionQuery',
  query: 'detectionQuery',
  unknown_column: 'detectionQuery',
  failed_values: 'detectionQuery',
  no_steps: 'detectionQuery',
  no_row_times: 'detectionQuery',
  no_entity_field: 'entityField',
  no_entity_value: 'entityField',
  no_time_field: 'timeField',
};

/** Returns the warnings of a run that are about its definition, as warnings of the detection. */
export const toQueryWarnings = (warnings: readonly { code: string; detail: string }[]): Warning[] =>
  warnings.flatMap(({ code, detail }) => {
    const field = fieldByCode[code];
    return field === undefined ? [] : [{ code, field, detail }];
  });

/** Returns the agent with the warnings of a check. */
export const withQueryWarnings = (agent: AgentView, warnings: Warning[]): AgentView => ({
  ...agent,
  query_warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
});

const columns = [
  'detection_query',
  'detection_category',
  'entity_field',
  'time_field',
  'connection_id',
  'siem_type',
] as const satisfies readonly (keyof AgentRow)[];

/** Returns whether two versions of a detection query the same fields of the same data, so that a check of one counts for both. */
export const hasSameQuery = (before: AgentRow, after: AgentRow): boolean =>
  columns.every((column) => before[column] === after[column]);
