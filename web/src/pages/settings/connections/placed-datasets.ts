/** A dataset of portable queries as the form edits it: where its events are, and the field with the event as JSON or an empty text. */
export type PlacedDataset = { key: string; dataset: string; source: string; event: string; isNew?: boolean };

/** Reads the setting `datasets` of a stored connection. */
export const readPlacedDatasets = (setting: unknown): PlacedDataset[] =>
  Object.entries((setting ?? {}) as Record<string, { source: string; event?: string }>).map(
    ([dataset, { source, event = '' }]) => ({ key: dataset, dataset, source, event }),
  );

/** Returns the settings that the rows stand for. Without rows, the setting `datasets` is absent. */
export function toDatasetSettings(rows: readonly PlacedDataset[]): { datasets?: Record<string, object> } {
  if (rows.length === 0) return {};
  const entries = rows.map(({ dataset, source, event }) => [
    dataset.trim(),
    { source: source.trim(), ...(event.trim() !== '' && { event: event.trim() }) },
  ]);
  return { datasets: Object.fromEntries(entries) };
}

/** Returns the index of the first row whose dataset an earlier row has, or -1. */
export const findDuplicate = (rows: readonly PlacedDataset[]): number =>
  rows.findIndex(({ dataset }, index) => {
    const first = rows.findIndex((other) => other.dataset.trim() === dataset.trim());
    return dataset.trim() !== '' && first < index;
  });

/** JSON pointers of the fields that the rows show errors for. */
export const pointersOf = (rows: readonly PlacedDataset[]): string[] => [
  '/settings/datasets',
  ...rows.flatMap(({ dataset }) => {
    const pointer = `/settings/datasets/${dataset.trim()}`;
    return [pointer, `${pointer}/source`, `${pointer}/event`];
  }),
];
