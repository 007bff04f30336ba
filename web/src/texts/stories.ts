import type { Story } from '../api/stories.ts';
import { countOf } from '../lib/text.ts';
import { texts as common } from './common.ts';

type Reason = Story['reasons'][number]['kind'];

export const texts = {
  title: common.pages.stories,
  search: 'Search the stories',
  severity: 'Severity',
  empty: { title: 'No stories yet', filtered: 'No story has an item that matches this.', clear: 'Clear filters' },
  reports: ({ items, hasMore }: Story) => `${hasMore ? 'at least ' : ''}${countOf(items.length, 'report')}`,
  isCut: 'The story is too large to show all of its reports.',
  sources: 'Sources',
  timeline: 'Time line',
  reasons: 'Why they are one story',
  severityOf: 'The level is that of the marked report.',
  noReasons: 'No other report of this event is in the feed.',
  reason: {
    duplicate: 'Duplicates',
    indicator: 'Both have',
    vulnerability: 'Both are about',
    names: 'Both name, within days of each other,',
  } satisfies Record<Reason, string>,
  more: (count: number) => `and ${count} more`,
  inStory: 'Story',
  open: 'Open the story',
};
