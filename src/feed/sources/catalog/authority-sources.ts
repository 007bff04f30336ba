import { defineGroup, schedules, type CatalogEntry } from './catalog-entry.ts';

/** Computer emergency response teams, in alerts, reports and MISP events. */
export const authoritySources: Record<string, CatalogEntry> = {
  ...defineGroup(
    { kind: 'rss', reliability: 0.9, schedule: schedules.hourly },
    {
      'cisa-advisories': {
        publisher: 'CISA',
        title: 'Cybersecurity advisories',
        url: 'https://www.cisa.gov/cybersecurity-advisories/all.xml',
        brings: 'Alerts, analysis reports and joint advisories',
        license: 'Public domain',
        sample: 'written',
      },
      'cert-bund': {
        publisher: 'BSI',
        title: 'CERT-Bund short reports',
        url: 'https://wid.cert-bund.de/content/public/securityAdvisory/rss',
        brings: 'German short reports on vulnerabilities',
      },
      'cert-eu': {
        publisher: 'CERT-EU',
        title: 'Security advisories',
        url: 'https://cert.europa.eu/publications/security-advisories-rss',
        brings: 'Advisories for the institutions of the European Union',
      },
      'cert-fr': {
        publisher: 'ANSSI',
        title: 'CERT-FR alerts and advisories',
        url: 'https://www.cert.ssi.gouv.fr/feed/',
        brings: 'French alerts, advisories and reports on threats',
        license: 'etalab-2.0',
        sample: 'written',
      },
      'cert-ua': {
        publisher: 'CERT-UA',
        title: 'Articles',
        url: 'https://cert.gov.ua/api/articles/rss',
        brings: 'Reports on attacks against Ukraine (UAC groups), with indicators',
      },
      'ncsc-uk': {
        publisher: 'NCSC',
        title: 'Reports and advisories',
        url: 'https://www.ncsc.gov.uk/api/1/services/v1/report-rss-feed.xml',
        brings: 'British reports and advisories',
        license: 'OGL-UK-3.0',
      },
      jpcert: {
        publisher: 'JPCERT/CC',
        title: 'Alerts and reports in English',
        url: 'https://www.jpcert.or.jp/english/rss/jpcert-en.rdf',
        brings: 'Japanese alerts and reports',
        sample: 'written',
      },
      'jpcert-blog': {
        publisher: 'JPCERT/CC',
        title: 'JPCERT/CC Eyes',
        url: 'https://blogs.jpcert.or.jp/en/atom.xml',
        brings: 'Analyses of malware and attacks seen in Japan',
        schedule: schedules.twoHourly,
        sample: 'written',
      },
      'cert-pl': {
        publisher: 'CERT Polska',
        title: 'News in English',
        url: 'https://cert.pl/en/rss.xml',
        brings: 'Analyses of malware and campaigns against Poland',
        schedule: schedules.twoHourly,
      },
      'cyber-centre-canada': {
        publisher: 'Canadian Centre for Cyber Security',
        title: 'Alerts and advisories',
        url: 'https://www.cyber.gc.ca/api/cccs/rss/v1/get?feed=alerts_advisories&lang=en',
        brings: 'Canadian alerts and advisories',
      },
      'acsc-alerts': {
        publisher: 'Australian Signals Directorate',
        title: 'Alerts of the Australian Cyber Security Centre',
        url: 'https://www.cyber.gov.au/rss/alerts',
        brings: 'Australian alerts',
        license: 'CC-BY-4.0',
      },
      'sans-isc': {
        publisher: 'SANS Internet Storm Center',
        title: 'Diaries',
        url: 'https://isc.sans.edu/rssfeed_full.xml',
        brings: 'Daily analyses of attacks and malware by volunteers',
        license: 'CC-BY-NC-SA-3.0-US',
        reliability: 0.8,
      },
    },
  ),
  ...defineGroup(
    { kind: 'misp', reliability: 0.7, schedule: schedules.sixHourly, sample: 'written' },
    {
      'cert-fr-misp': {
        publisher: 'ANSSI',
        title: 'CERT-FR indicators (MISP)',
        url: 'https://misp.cert.ssi.gouv.fr/feed-misp/manifest.json',
        brings: 'Indicators of the reports of CERT-FR',
        reliability: 0.9,
      },
      'circl-osint': {
        publisher: 'CIRCL',
        title: 'OSINT feed (MISP)',
        url: 'https://www.circl.lu/doc/misp/feed-osint/manifest.json',
        brings: 'Events with the indicators of public reports',
      },
      botvrij: {
        publisher: 'Botvrij.eu',
        title: 'OSINT feed (MISP)',
        url: 'https://www.botvrij.eu/data/feed-osint/manifest.json',
        brings: 'Events with the indicators of public reports',
        license: 'Terms of use of Botvrij.eu: no resale',
        reliability: 0.6,
      },
    },
  ),
};
