import { z } from 'zod';
import { fieldError } from '../../platform/lib/errors.ts';
import { tlps, type Tlp } from '../model/vocabulary.ts';
import { sourceKinds, type SourceKind } from '../formats/registry.ts';

type CatalogEntry = {
  kind: SourceKind;
  title: string;
  publisher: string;
  url: string;
  reliability: number;
  /** Omitted if the publisher states no license. */
  license?: string;
  tlp: Tlp;
};

const entryOf =
  (kind: SourceKind, reliability: number) =>
  (publisher: string, title: string, url: string, license?: string): CatalogEntry => ({
    kind,
    title,
    publisher,
    url,
    reliability,
    ...(license ? { license } : {}),
    tlp: 'CLEAR',
  });
const authority = entryOf('rss', 0.9);
const vendor = entryOf('rss', 0.8);
const indicatorList = entryOf('csv', 0.7);

/** Well-known public sources, by catalog name. Only facts about the sources; none of their content is included. */
export const sourceCatalog: Record<string, CatalogEntry> = {
  'cisa-kev': entryOf('kev', 0.95)(
    'CISA',
    'Known Exploited Vulnerabilities',
    'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
    'CC0-1.0',
  ),
  nvd: entryOf('nvd', 0.9)(
    'NIST',
    'National Vulnerability Database',
    'https://services.nvd.nist.gov/rest/json/cves/2.0',
  ),
  'cisa-advisories': authority(
    'CISA',
    'Cybersecurity advisories',
    'https://www.cisa.gov/cybersecurity-advisories/all.xml',
  ),
  'cisa-csaf': entryOf('csaf', 0.95)(
    'CISA',
    'Industrial control systems advisories (CSAF)',
    'https://www.cisa.gov/sites/default/files/csaf/provider-metadata.json',
  ),
  'cert-bund-csaf': entryOf('csaf', 0.9)(
    'BSI',
    'CERT-Bund advisories (CSAF)',
    'https://wid.cert-bund.de/.well-known/csaf/provider-metadata.json',
  ),
  'cert-bund': authority(
    'BSI',
    'CERT-Bund short reports',
    'https://wid.cert-bund.de/content/public/securityAdvisory/rss',
  ),
  'cert-eu': authority('CERT-EU', 'Security advisories', 'https://cert.europa.eu/publications/security-advisories-rss'),
  'cert-fr': authority('ANSSI', 'CERT-FR alerts and advisories', 'https://www.cert.ssi.gouv.fr/feed/', 'etalab-2.0'),
  'ncsc-uk': authority(
    'NCSC',
    'Reports and advisories',
    'https://www.ncsc.gov.uk/api/1/services/v1/report-rss-feed.xml',
    'OGL-UK-3.0',
  ),
  jpcert: authority('JPCERT/CC', 'Alerts and reports in English', 'https://www.jpcert.or.jp/english/rss/jpcert-en.rdf'),
  'sans-isc': entryOf('rss', 0.8)(
    'SANS Internet Storm Center',
    'Diaries',
    'https://isc.sans.edu/rssfeed_full.xml',
    'CC-BY-NC-SA-3.0-US',
  ),
  eset: vendor('ESET', 'WeLiveSecurity', 'https://www.welivesecurity.com/en/rss/feed/'),
  talos: vendor('Cisco Talos', 'Talos Intelligence', 'https://blog.talosintelligence.com/rss/'),
  unit42: vendor('Palo Alto Networks', 'Unit 42', 'https://unit42.paloaltonetworks.com/feed/'),
  'microsoft-security': vendor(
    'Microsoft',
    'Microsoft Security',
    'https://www.microsoft.com/en-us/security/blog/feed/',
  ),
  msrc: authority('Microsoft', 'Security update guide', 'https://api.msrc.microsoft.com/update-guide/rss'),
  'google-threat-intelligence': vendor(
    'Google',
    'Threat intelligence',
    'https://cloudblog.withgoogle.com/topics/threat-intelligence/rss/',
  ),
  'project-zero': vendor('Google', 'Project Zero', 'https://googleprojectzero.blogspot.com/feeds/posts/default'),
  securelist: vendor('Kaspersky', 'Securelist', 'https://securelist.com/feed/'),
  sentinellabs: vendor('SentinelOne', 'SentinelLABS', 'https://www.sentinelone.com/labs/feed/'),
  'check-point-research': vendor('Check Point', 'Check Point Research', 'https://research.checkpoint.com/feed/'),
  'dfir-report': vendor('The DFIR Report', 'The DFIR Report', 'https://thedfirreport.com/feed/'),
  'circl-osint': entryOf('misp', 0.7)(
    'CIRCL',
    'OSINT feed (MISP)',
    'https://www.circl.lu/doc/misp/feed-osint/manifest.json',
  ),
  botvrij: entryOf('misp', 0.6)(
    'Botvrij.eu',
    'OSINT feed (MISP)',
    'https://www.botvrij.eu/data/feed-osint/manifest.json',
  ),
  urlhaus: indicatorList(
    'abuse.ch',
    'URLhaus, recent addresses',
    'https://urlhaus.abuse.ch/downloads/csv_recent/',
    'CC0-1.0',
  ),
  threatfox: indicatorList(
    'abuse.ch',
    'ThreatFox, recent indicators',
    'https://threatfox.abuse.ch/export/csv/recent/',
    'CC0-1.0',
  ),
  'malware-bazaar': indicatorList(
    'abuse.ch',
    'MalwareBazaar, recent samples',
    'https://bazaar.abuse.ch/export/csv/recent/',
    'CC0-1.0',
  ),
  'feodo-tracker': indicatorList(
    'abuse.ch',
    'Feodo Tracker, botnet servers',
    'https://feodotracker.abuse.ch/downloads/ipblocklist.csv',
    'CC0-1.0',
  ),
  'emerging-threats': entryOf('csv', 0.6)(
    'Proofpoint',
    'Emerging Threats, compromised hosts',
    'https://rules.emergingthreats.net/blockrules/compromised-ips.txt',
  ),
  'osv-pypi': entryOf('osv', 0.8)(
    'OSV',
    'Open Source Vulnerabilities, PyPI',
    'https://osv-vulnerabilities.storage.googleapis.com/PyPI/modified_id.csv',
  ),
  'osv-go': entryOf('osv', 0.8)(
    'OSV',
    'Open Source Vulnerabilities, Go',
    'https://osv-vulnerabilities.storage.googleapis.com/Go/modified_id.csv',
  ),
};

/** Throws a 400 if the catalog has no source of that name. */
export function findCatalogSource(name: string): CatalogEntry {
  const entry = Object.hasOwn(sourceCatalog, name) ? sourceCatalog[name] : undefined;
  if (!entry) throw fieldError('/catalogue', 'unknown', `The catalog has no source "${name.slice(0, 100)}".`);
  return entry;
}

export const SourceCatalog = z.object({
  sources: z.array(
    z.object({
      name: z.string().describe('The value for `catalogue` of POST /api/feed/sources.'),
      title: z.string(),
      kind: z.enum(sourceKinds),
      url: z.string(),
      publisher: z.string(),
      license: z.string().optional(),
      tlp: z.enum(tlps),
      reliability: z.number(),
    }),
  ),
});

export const listCatalog = (): z.infer<typeof SourceCatalog> => ({
  sources: Object.entries(sourceCatalog).map(([name, known]) => ({ name, ...known })),
});
