import { defineGroup, schedules, type CatalogEntry } from './catalog-entry.ts';

/** News sites, which report what others found. */
export const newsSources: Record<string, CatalogEntry> = defineGroup(
  { kind: 'rss', reliability: 0.6, schedule: schedules.hourly },
  {
    bleepingcomputer: {
      publisher: 'BleepingComputer',
      title: 'News',
      url: 'https://www.bleepingcomputer.com/feed/',
      brings: 'News on attacks, ransomware and vulnerabilities',
      sample: 'written',
    },
    'the-record': {
      publisher: 'Recorded Future News',
      title: 'The Record',
      url: 'https://therecord.media/feed',
      brings: 'News on cybercrime and espionage',
    },
    'hacker-news': {
      publisher: 'The Hacker News',
      title: 'News',
      url: 'https://feeds.feedburner.com/TheHackersNews',
      brings: 'News on attacks and vulnerabilities',
      sample: 'written',
    },
    'krebs-on-security': {
      publisher: 'Brian Krebs',
      title: 'Krebs on Security',
      url: 'https://krebsonsecurity.com/feed/',
      brings: 'Investigations of cybercrime',
      sample: 'written',
    },
    'security-week': {
      publisher: 'SecurityWeek',
      title: 'News',
      url: 'https://www.securityweek.com/feed/',
      brings: 'News on attacks and vulnerabilities',
    },
    'dark-reading': {
      publisher: 'Dark Reading',
      title: 'News',
      url: 'https://www.darkreading.com/rss.xml',
      brings: 'News on attacks and defenses',
    },
  },
);
