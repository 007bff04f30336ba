const time = { created: '2024-01-01T00:00:00.000Z' };

/** Returns a bundle with one report of indicators. `more` overrides fields of the report. */
export function stixBundle(values: string[], more: Record<string, unknown> = {}): Record<string, unknown> {
  const modified = (more['modified'] as string | undefined) ?? '2024-01-01T00:00:00.000Z';
  const indicators = values.map((value) => ({
    type: 'indicator',
    spec_version: '2.1',
    id: `indicator--${value}`,
    ...time,
    modified,
    pattern: `[domain-name:value = '${value}']`,
    pattern_type: 'stix',
    valid_from: '2024-01-01T00:00:00Z',
  }));
  const report = {
    type: 'report',
    spec_version: '2.1',
    id: 'report--r1',
    ...time,
    modified,
    name: 'A made-up report',
    description: 'Something happened. It was noticed.',
    published: '2024-01-01T00:00:00Z',
    object_refs: indicators.map(({ id }) => id),
    ...more,
  };
  return { type: 'bundle', id: 'bundle--b1', objects: [report, ...indicators] };
}
