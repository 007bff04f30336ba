/** Returns a catalog of known exploited vulnerabilities with invented entries, in the publisher's format. */
export function kevCatalogWith(mark: string, count = 3): string {
  const vulnerabilities = Array.from({ length: count }, (_, n) => ({
    cveID: `CVE-2099-${10_000 + n}`,
    vendorProject: 'Northmere',
    product: `Gatehouse ${n}`,
    vulnerabilityName: `${mark} vulnerability ${n}`,
    dateAdded: '2026-01-05',
    shortDescription: `Northmere Gatehouse ${n} contains a vulnerability. This entry is made up.`,
    requiredAction: 'Apply the update.',
    dueDate: '2026-01-26',
    knownRansomwareCampaignUse: n % 2 === 0 ? 'Known' : 'Unknown',
    notes: '',
    cwes: ['CWE-287'],
  }));
  return JSON.stringify({
    title: 'Catalogue',
    catalogVersion: '2026.01.05',
    dateReleased: '2026-01-05T12:00:00.0000Z',
    count,
    vulnerabilities,
  });
}
