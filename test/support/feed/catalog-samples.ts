import { csafAdvisory } from './csaf-documents.ts';
import { epssScores } from './epss-documents.ts';
import { kevCatalogue, kevRows } from './kev-source.ts';
import { mispEvent } from './misp-documents.ts';
import { nvdPage, nvdRow } from './nvd-documents.ts';
import { euvdRecord, githubAdvisory, osvRecord } from './osv-documents.ts';
import { atomSample, rdfSample, rssSample, type CatalogSample } from './catalog-feed-samples.ts';

const sha256 = '0123456789abcdef'.repeat(4);
const [md5, sha1] = [sha256.slice(0, 32), sha256.slice(0, 40)];
const ranges = (...cidrs: string[]): CatalogSample => ({
  document: [
    ...cidrs.map((cidr, index) => ({ cidr, sblid: `SBL${index}`, rir: 'ripencc' })),
    { type: 'metadata', timestamp: 1_767_225_600, size: 1, records: cidrs.length, copyright: '(c) The publisher' },
  ]
    .map((row) => JSON.stringify(row))
    .join('\n'),
  mappings: cidrs,
});
const addresses: CatalogSample = { document: '198.51.101.23\n203.0.113.9\n', values: ['198.51.101.23', '203.0.113.9'] };
const misp: CatalogSample = { document: JSON.stringify(mispEvent('a')), title: 'Campaign a', values: ['bad.example'] };
const csaf: CatalogSample = {
  document: JSON.stringify(csafAdvisory('ACME-1')),
  title: 'Acme Gadget ACME-1',
  mappings: ['CVE-2024-1234', 'ACME-1'],
};
const osv = (ecosystem: string): CatalogSample => ({
  document: JSON.stringify(osvRecord('GHSA-2024-1', { affected: [{ package: { ecosystem, name: 'thing' } }] })),
  title: 'A flaw in thing GHSA-2024-1',
  mappings: ['CVE-2024-1001'],
});
const osvMalicious = (ecosystem: string): CatalogSample => ({
  document: JSON.stringify(
    osvRecord('MAL-2024-1', { aliases: [], severity: [], affected: [{ package: { ecosystem, name: 'thing' } }] }),
  ),
  title: 'A flaw in thing MAL-2024-1',
  mappings: ['MAL-2024-1'],
});

const all = (names: string, sample: CatalogSample): Record<string, CatalogSample> =>
  Object.fromEntries(names.split(' ').map((name) => [name, sample]));

/** Samples by catalog name. The values are from the ranges for documentation or made up, as the texts are. */
export const catalogSamples: Record<string, CatalogSample> = {
  'cisa-kev': { document: JSON.stringify(kevCatalogue(1, kevRows(1))), mappings: ['CVE-2024-0001'] },
  epss: { document: epssScores('2026-03-02', ['CVE-2024-0001', 0.9, 0.99]) },
  nvd: { document: JSON.stringify(nvdPage([nvdRow('CVE-2024-1234')])), mappings: ['CVE-2024-1234'] },
  'osv-npm': osvMalicious('npm'),
  'osv-pypi': osvMalicious('PyPI'),
  'osv-nuget': osvMalicious('NuGet'),
  'osv-rubygems': osvMalicious('RubyGems'),
  'osv-maven': osv('Maven'),
  'osv-go': osv('Go'),
  'osv-crates-io': osv('crates.io'),
  'osv-packagist': osv('Packagist'),
  'osv-github-actions': osv('GitHub Actions'),
  'github-advisories': {
    document: JSON.stringify([githubAdvisory('GHSA-aaaa-bbbb-cccc')]),
    title: 'Path traversal in thing',
    mappings: ['CVE-2026-1001', 'GHSA-aaaa-bbbb-cccc'],
  },
  ...all('euvd euvd-exploited', {
    document: JSON.stringify({ items: [euvdRecord('EUVD-2026-1234')], total: 1 }),
    title: 'Thing Manager before 1.2',
    mappings: ['CVE-2026-1001', 'EUVD-2026-1234'],
  }),
  ...all(
    'cisa-csaf cert-bund-csaf ncsc-nl-csaf red-hat-csaf suse-csaf siemens-csaf cisco-csaf microsoft-csaf sick-csaf',
    csaf,
  ),
  ...all('cert-fr-misp circl-osint botvrij', misp),
  ...all('emerging-threats cins blocklist-de greensnow tor-exits', addresses),
  ipsum: { document: '# IPsum\n198.51.101.23\t4\n203.0.113.9\t3\n', values: ['198.51.101.23', '203.0.113.9'] },
  'binary-defense': {
    document: '#\n# Artillery Threat Intelligence Feed and Banlist Feed\n#\n198.51.101.23\n',
    values: ['198.51.101.23'],
  },
  'spamhaus-drop': ranges('198.51.100.0/24', '203.0.113.0/24'),
  'spamhaus-drop-v6': ranges('2001:db8:1::/48'),
  dshield: {
    document:
      '#  DShield.org Recommended Block List\n#    updated: 2026-03-02 10:00:00\nStart\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n198.51.100.0\t198.51.100.255\t24\t942\tEXAMPLE-AS ,\tZZ\tabuse@example.com\n',
    title: 'DShield.org Recommended Block List',
    mappings: ['198.51.100.0/24'],
  },
  'dataplane-ssh': {
    document:
      '# sshpwauth.txt\n# ASN  |  ASname  |  ipaddr  |  lastseen  |  category\n64496           |  EXAMPLE-AS, ZZ                  |  198.51.101.23    |  2026-03-02 10:00:00  |  sshpwauth\n64497           |  EXAMPLE-TWO, ZZ                 |  203.0.113.9      |  2026-03-02 10:00:00  |  sshpwauth\n',
    values: ['198.51.101.23', '203.0.113.9'],
  },
  urlhaus: {
    document:
      '################\n# abuse.ch URLhaus Database Dump (CSV)   #\n################\n# id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter\n"1","2026-03-02 09:00:00","http://198.51.101.23/bin.sh","online","2026-03-02 09:00:00","malware_download","elf","https://urlhaus.abuse.ch/url/1/","anon"\n',
    values: ['http://198.51.101.23/bin.sh'],
  },
  threatfox: {
    document:
      '# ThreatFox IOCs: recent additions - CSV format #\n# "first_seen_utc","ioc_id","ioc_value","ioc_type","threat_type","fk_malware","malware_alias","malware_printable","last_seen_utc","confidence_level","is_compromised","reference","tags","anonymous","reporter"\n"2026-03-03 06:14:29", "1", "198.51.101.7:443", "ip:port", "botnet_cc", "win.cobalt_strike", "", "Cobalt Strike", "", "100", "False", "None", "None", "0", "anon"\n',
    values: ['198.51.101.7'],
  },
  'malware-bazaar': {
    document: `# MalwareBazaar recent malware samples (CSV) #\n# "first_seen_utc","sha256_hash","md5_hash","sha1_hash","reporter","file_name","file_type_guess","mime_type","signature","clamav","vtpercent","imphash","ssdeep","tlsh"\n"2026-03-03 06:14:29", "${sha256}", "${md5}", "${sha1}", "anon", "a.exe", "exe", "application/x-dosexec", "AgentTesla", "n/a", "n/a", "n/a", "n/a", "n/a"\n`,
    values: [sha256, md5, sha1],
  },
  'feodo-tracker': {
    document:
      '# Feodo Tracker Botnet C2 IP Blocklist (CSV) #\n"first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"\n"2026-03-01 09:00:00","198.51.101.23","443","online","2026-03-02","Emotet"\n',
    values: ['198.51.101.23'],
  },
  sslbl: {
    document: `# abuse.ch SSLBL SSL Certificate Blacklist (SHA1 Fingerprints) #\n#\n# Listingdate,SHA1,Listingreason\n2026-03-02 10:00:00,${sha1},Rhadamanthys C&C\n`,
    values: [`cert_sha1 ${sha1}`, 'Rhadamanthys'],
  },
  openphish: {
    document: 'https://login.evil-bank.top/a\n',
    title: /Phishing/,
    values: ['https://login.evil-bank.top/a'],
  },
  phishtank: {
    document:
      'phish_id,url,phish_detail_url,submission_time,verified,verification_time,online,target\n1,http://evil-bank.top/x,http://www.phishtank.com/phish_detail.php?phish_id=1,2026-03-02T10:00:00+00:00,yes,2026-03-02T10:05:00+00:00,yes,Other\n',
    values: ['http://evil-bank.top/x'],
  },
  'cert-pl-domains': {
    document: '\uFEFFevil-bank.top\r\nevil-shop.top\r\n',
    values: ['evil-bank.top', 'evil-shop.top'],
  },
  'c2intel-addresses': {
    document: '#ip,ioc\n198.51.101.23,Possible Cobaltstrike C2 IP\n203.0.113.9,Possible Sliver C2 IP\n',
    values: ['198.51.101.23', '203.0.113.9'],
  },
  'c2intel-domains': {
    document: '#domain,ioc\nevil-host.top,Possible Cobalt Strike C2 Domain\nevil-cdn.top,Possible Sliver C2 Domain\n',
    values: ['evil-host.top', 'evil-cdn.top'],
  },
  viriback: {
    document: 'Family,URL,IP,FirstSeen\nAmadey,http://evil-host.top/Login.php,198.51.101.23,09-03-2026\n',
    values: ['http://evil-host.top/Login.php', '198.51.101.23', '2026-03-09T00:00:00.000Z', 'Amadey'],
  },
  tweetfeed: {
    document: `2026-03-02 03:26:53,analyst,domain,evil-host.top,#phishing,https://twitter.com/analyst/status/1\n2026-03-02 04:26:53,analyst,sha256,${sha256},#Emotet,https://twitter.com/analyst/status/2\n`,
    values: ['evil-host.top', sha256],
  },
  // The platforms of the blogs: WordPress, Ghost, Blogger, Movable Type, Drupal, the `feed` package of npm.
  ...all(
    'unit42 microsoft-security microsoft-threat-intelligence sentinellabs securelist check-point-research volexity sekoia red-canary citizen-lab malwarebytes asec dfir-report horizon3 sysdig krebs-on-security',
    rssSample('wordpress'),
  ),
  ...all('talos watchtowr', rssSample('ghost')),
  ...all('proofpoint cisa-advisories', rssSample('drupal')),
  zscaler: rssSample('node'),
  ...all('bleepingcomputer cert-fr fortinet-psirt palo-alto-psirt', rssSample('plain')),
  'hacker-news': rssSample('feedburner'),
  'project-zero': atomSample('html'),
  'jpcert-blog': atomSample('text/html'),
  jpcert: rdfSample,
};
