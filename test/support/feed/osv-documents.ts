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

/** Returns a global security advisory of GitHub's REST API. `more` overrides its fields. */
export const githubAdvisory = (id: string, more: object = {}): Record<string, unknown> => ({
  ghsa_id: id,
  cve_id: 'CVE-2026-1001',
  url: `https://api.github.com/advisories/${id}`,
  html_url: `https://github.com/advisories/${id}`,
  summary: 'Path traversal in thing',
  description: '### Impact\nThing reads files **outside** its folder.\n',
  type: 'reviewed',
  severity: 'critical',
  repository_advisory_url: null,
  source_code_location: 'https://code.example/acme/thing',
  identifiers: [
    { value: id, type: 'GHSA' },
    { value: 'CVE-2026-1001', type: 'CVE' },
  ],
  references: ['https://code.example/acme/thing/commit/1', `https://github.com/advisories/${id}`],
  published_at: '2026-03-01T10:00:00Z',
  updated_at: '2026-03-02T10:00:00Z',
  github_reviewed_at: '2026-03-01T10:00:00Z',
  nvd_published_at: null,
  withdrawn_at: null,
  vulnerabilities: [
    {
      package: { ecosystem: 'pip', name: 'thing' },
      vulnerable_version_range: '>= 1.0, < 1.2',
      first_patched_version: '1.2',
      vulnerable_functions: [],
    },
    {
      package: { ecosystem: 'pip', name: 'thing' },
      vulnerable_version_range: '= 2.0.1',
      first_patched_version: null,
      vulnerable_functions: [],
    },
    {
      package: { ecosystem: 'npm', name: '@acme/thing' },
      vulnerable_version_range: '>= 0',
      first_patched_version: null,
      vulnerable_functions: [],
    },
  ],
  cvss_severities: {
    cvss_v3: { vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 },
    cvss_v4: { vector_string: null, score: 0 },
  },
  cwes: [{ cwe_id: 'CWE-22', name: 'Path Traversal' }],
  credits: [],
  cvss: { vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 },
  epss: { percentage: 0.00602, percentile: 0.78507 },
  ...more,
});

/** Returns a record of the European Union Vulnerability Database. `more` overrides its fields. */
export const euvdRecord = (id: string, more: object = {}): Record<string, unknown> => ({
  id,
  enisaUuid: '8d3b2c1a-0000-3000-8000-000000000001',
  description: 'Thing Manager before 1.2 lets remote attackers read files. Users should update.',
  datePublished: 'Apr 15, 2026, 8:30:58 PM',
  dateUpdated: 'Apr 17, 2026, 3:55:40 AM',
  baseScore: 6.5,
  baseScoreVersion: '3.1',
  baseScoreVector: 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:N/A:N',
  references: 'https://advisories.example/1\nhttps://code.example/acme/thing/commit/1\n',
  aliases: 'CVE-2026-1001\nGHSA-aaaa-bbbb-cccc\n',
  assigner: 'acme',
  epss: 0.42,
  enisaIdProduct: [
    {
      id: '0d6b229c-0000-3000-8000-000000000001',
      product: { name: 'Thing Manager' },
      product_version: '1.0 <1.2',
    },
  ],
  enisaIdVendor: [{ id: '3218b1b4-0000-3000-8000-000000000001', vendor: { name: 'Acme' } }],
  ...more,
});
