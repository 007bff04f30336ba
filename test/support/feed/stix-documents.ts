/** Returns an indicator of a domain, or of a SHA-256 hash if the value has no dot. */
export const stixIndicator = (value: string, id = value, modified = '2024-01-01T00:00:00.000Z') => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${id}`,
  created: '2024-01-01T00:00:00.000Z',
  modified,
  pattern: value.includes('.') ? `[domain-name:value = '${value}']` : `[file:hashes.'SHA-256' = '${value}']`,
  pattern_type: 'stix',
  valid_from: '2024-01-01T00:00:00Z',
});

/** Returns a bundle with one report of indicators. `more` overrides fields of the report. */
export function stixBundle(values: string[], more: Record<string, unknown> = {}): Record<string, unknown> {
  const modified = (more['modified'] as string | undefined) ?? '2024-01-01T00:00:00.000Z';
  const indicators = values.map((value) => stixIndicator(value, value, modified));
  const report = {
    type: 'report',
    spec_version: '2.1',
    id: 'report--r1',
    created: '2024-01-01T00:00:00.000Z',
    modified,
    name: 'A made-up report',
    description: 'Something happened. It was noticed.',
    published: '2024-01-01T00:00:00Z',
    object_refs: indicators.map(({ id }) => id),
    ...more,
  };
  return { type: 'bundle', id: 'bundle--b1', objects: [report, ...indicators] };
}
