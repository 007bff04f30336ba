/** Returns an OSV record. `more` overrides its fields. */
export const osvRecord = (id: string, more: object = {}): Record<string, unknown> => ({
  schema_version: '1.6.0',
  id,
  summary: `A flaw in thing ${id}`,
  details: 'Thing before 1.2 reads too far. An attacker may crash it.',
  aliases: [`CVE-2024-${String(1_000 + Number(/\d+$/.exec(id)?.[0] ?? 0))}`, `GHSA-aaaa-bbbb-${id.slice(-4)}`],
  modified: '2024-03-01T00:00:00Z',
  published: '2024-02-01T00:00:00Z',
  severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
  affected: [
    {
      package: { ecosystem: 'PyPI', name: 'thing' },
      ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: '1.2' }] }],
      versions: ['1.0', '1.1'],
    },
  ],
  references: [{ type: 'ADVISORY', url: `https://advisories.example/${id}` }],
  database_specific: { cwe_ids: ['CWE-125'], severity: 'CRITICAL' },
  ...more,
});
