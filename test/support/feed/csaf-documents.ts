/** Returns a CSAF 2.0 advisory. `more` overrides fields of `document`, and `tracking` overrides fields of its tracking. */
export const csafAdvisory = (
  id: string,
  { tracking = {}, document = {}, ...more }: { tracking?: object; document?: object; [name: string]: unknown } = {},
): Record<string, unknown> => ({
  document: {
    category: 'csaf_security_advisory',
    csaf_version: '2.0',
    title: `Acme Gadget ${id}`,
    lang: 'en',
    distribution: { tlp: { label: 'WHITE' } },
    publisher: { category: 'vendor', name: 'Acme CERT', namespace: 'https://www.acme.example' },
    notes: [{ category: 'summary', text: 'Gadget reads too far. An attacker may take it over.' }],
    references: [{ category: 'self', summary: 'Web', url: `https://acme.example/advisories/${id}` }],
    tracking: {
      id,
      status: 'final',
      version: '1',
      initial_release_date: '2024-01-01T00:00:00Z',
      current_release_date: '2024-01-01T00:00:00Z',
      revision_history: [{ number: '1', date: '2024-01-01T00:00:00Z', summary: 'Publication' }],
      ...tracking,
    },
    ...document,
  },
  product_tree: {
    branches: [
      {
        category: 'vendor',
        name: 'Acme',
        branches: [
          {
            category: 'product_name',
            name: 'Gadget',
            branches: [
              {
                category: 'product_version_range',
                name: '<2.0',
                product: { name: 'Acme Gadget <2.0', product_id: 'P1' },
              },
              { category: 'product_version', name: '2.0', product: { name: 'Acme Gadget 2.0', product_id: 'P2' } },
            ],
          },
        ],
      },
    ],
  },
  vulnerabilities: [
    {
      cve: 'CVE-2024-1234',
      cwe: { id: 'CWE-125', name: 'Out-of-bounds Read' },
      product_status: { known_affected: ['P1'], fixed: ['P2'] },
      scores: [{ products: ['P1'], cvss_v3: { version: '3.1', baseScore: 8.1, vectorString: 'CVSS:3.1/…' } }],
    },
  ],
  ...more,
});
