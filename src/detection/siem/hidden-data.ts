/**
 * Datasets and fields that an organization keeps from models. Names match in any case. A field is a name as in the logs, with dots for keys inside of
 * objects, in every dataset, and hides what is below it.
 */
export type HiddenData = { datasets: readonly string[]; fields: readonly string[] };

export const nothingHidden: HiddenData = { datasets: [], fields: [] };

export const hidesNothing = ({ datasets, fields }: HiddenData): boolean => datasets.length === 0 && fields.length === 0;

export const isHiddenDataset = (name: string, { datasets }: HiddenData): boolean =>
  datasets.some((dataset) => dataset.toLowerCase() === name.toLowerCase());

/** Returns whether a field is hidden itself or as part of an object. */
export function isHiddenField(name: string, { fields }: HiddenData): boolean {
  const lower = name.toLowerCase();
  return fields.some((field) => lower === field.toLowerCase() || lower.startsWith(`${field.toLowerCase()}.`));
}

/** Returns whether a value of the field may contain a hidden field. */
export const containsHiddenField = (name: string, { fields }: HiddenData): boolean =>
  fields.some((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}.`));

/** Returns rendered rows without the fields that are hidden, by their names. */
export function withoutHiddenFields<Row extends { fields: Record<string, string> }>(
  rows: readonly Row[],
  hidden: HiddenData,
): Row[] {
  if (hidden.fields.length === 0) return [...rows];
  return rows.map((row) => ({
    ...row,
    fields: Object.fromEntries(
      Object.entries(row.fields).filter(
        ([name, value]) => !isHiddenField(name, hidden) && !(containsHiddenField(name, hidden) && isObjectText(value)),
      ),
    ),
  }));
}

/** A value that may be JSON, which an object in a list or a cut text is. */
const isObjectText = (value: string): boolean => /[[{]/.test(value.slice(0, 4));
