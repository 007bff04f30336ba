/** Returns a row of the CVE API. `more` overrides fields of the CVE. */
export const nvdRow = (id: string, more: object = {}): { cve: Record<string, unknown> } => ({
  cve: {
    id,
    sourceIdentifier: 'cna@acme.example',
    published: '2024-01-01T10:00:00.000',
    lastModified: '2024-02-01T10:00:00.000',
    vulnStatus: 'Analyzed',
    descriptions: [
      { lang: 'es', value: 'Gadget lee demasiado.' },
      { lang: 'en', value: 'Gadget before 2.0 reads too far. An attacker may take it over.' },
    ],
    metrics: {
      cvssMetricV31: [
        { source: 'x', type: 'Secondary', cvssData: { version: '3.1', baseScore: 9.8 } },
        { source: 'nvd@nist.gov', type: 'Primary', cvssData: { version: '3.1', baseScore: 7.5 } },
      ],
      cvssMetricV2: [{ source: 'nvd@nist.gov', type: 'Primary', cvssData: { version: '2.0', baseScore: 10 } }],
    },
    weaknesses: [
      {
        type: 'Primary',
        description: [
          { lang: 'en', value: 'CWE-125' },
          { lang: 'en', value: 'NVD-CWE-Other' },
        ],
      },
    ],
    configurations: [
      {
        nodes: [
          {
            operator: 'OR',
            cpeMatch: [
              {
                vulnerable: true,
                criteria: 'cpe:2.3:a:acme_corp:gadget\\:pro:*:*:*:*:*:*:*:*',
                versionEndExcluding: '2.0',
              },
              { vulnerable: true, criteria: 'cpe:2.3:o:linux:linux_kernel:6.1:rc1:*:*:*:*:*:*' },
              { vulnerable: false, criteria: 'cpe:2.3:h:acme:board:-:*:*:*:*:*:*:*' },
            ],
          },
        ],
      },
    ],
    references: [{ url: 'https://acme.example/1', tags: ['Vendor Advisory'] }],
    ...more,
  },
});

export const nvdPage = (rows: object[], more: object = {}): object => ({
  resultsPerPage: rows.length,
  startIndex: 0,
  totalResults: rows.length,
  format: 'NVD_CVE',
  version: '2.0',
  vulnerabilities: rows,
  ...more,
});
