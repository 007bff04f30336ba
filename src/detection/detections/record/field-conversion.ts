import { emptyColumn, type AgentRow, type AgentWithPrompt } from './detection-row.ts';
import type { Detection } from './detection.schema.ts';
import type { DetectionField } from './detection-fields.ts';
import { fieldEntries, type ColumnInput, type DefinitionFields, type RecordFieldName } from './field-types.ts';

const columnEntries = fieldEntries.filter(([, { managed }]) => !managed);
const recordEntries = fieldEntries.filter(([, { output }]) => output);
const definitionEntries = fieldEntries.filter(([, { outsideDefinition }]) => !outsideDefinition);

/**
 * Returns the columns that a body sets. A field that is absent sets no column, and null resets the column. Throws 400 for
 * values that the body's schema cannot check. `now` is slot time.
 */
export function toColumns(input: ColumnInput, now: Date): Partial<AgentRow> {
  const values: Record<string, unknown> = input;
  const columns: Record<string, unknown> = {};
  for (const [name, field] of columnEntries) {
    const value = values[name];
    if (value !== undefined) columns[field.column] = value === null ? emptyColumn(field) : toColumn(field, value, now);
  }
  return columns;
}

function toColumn(field: DetectionField, value: unknown, now: Date): unknown {
  if (field.normalize) return field.normalize(value as string, now);
  if (!field.json) return value;
  const text = JSON.stringify(value);
  // Null stands for the default, so that a later version can change the default.
  return field.nullable && text === JSON.stringify(field.default) ? null : text;
}

function readColumn({ column, json }: DetectionField, row: Record<string, unknown>): unknown {
  const stored = row[column];
  return json && stored !== null ? (JSON.parse(stored as string) as unknown) : stored;
}

/** Returns the fields of the table as the record shows them. */
export function toRecordFields(row: AgentWithPrompt): Pick<Detection, RecordFieldName> {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of recordEntries) {
    const value = readColumn(field, row) ?? unsetValue(field, field.recordWhenUnset);
    if (value !== undefined) fields[name] = value;
  }
  return fields as Pick<Detection, RecordFieldName>;
}

/** Returns the fields of the table that a revision keeps. */
export function toDefinitionFields(row: AgentWithPrompt): DefinitionFields {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of definitionEntries) {
    const value = readColumn(field, row) ?? unsetValue(field, field.definitionWhenUnset);
    if (value !== undefined) fields[name] = value;
  }
  return fields as DefinitionFields;
}

/** Returns a create body that reproduces the detection. Unset fields that a body cannot set to null are left out. */
export function toCreateBody(row: AgentWithPrompt): Record<string, unknown> {
  const values = fieldEntries.map(([name, field]) => [name, readColumn(field, row), field.default] as const);
  return Object.fromEntries(
    values.filter(([, value, byDefault]) => value !== null || byDefault === null).map(([name, value]) => [name, value]),
  );
}

function unsetValue(field: DetectionField, whenUnset: 'omitted' | 'default' | undefined): unknown {
  if (whenUnset === undefined) return null;
  return whenUnset === 'default' ? field.default : undefined;
}
