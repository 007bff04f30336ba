import type { Digest } from '../api/digest.ts';
import { countOf } from '../lib/text.ts';
import { texts as common } from './common.ts';

/** What was relevant in a week. */
export const texts = {
  title: common.pages.digest,
  week: ({ week, timeZone }: Digest) => `Week ${week} (${timeZone})`,
  previous: 'Previous week',
  next: 'Next week',
  html: 'Download as HTML',
  markdown: 'Download as Markdown',
  rss: 'RSS feed of the digests',
  exploited: 'Exploited vulnerabilities in your products',
  seen: 'Seen in your logs',
  stories: 'Stories',
  requirements: 'Requirements',
  changes: 'Corrected and retracted',
  advice: 'What to do:',
  why: 'Why:',
  reports: ({ publishers, reports }: Digest['stories']['list'][number]) =>
    reports > 1 ? `${publishers.join(', ')} · ${countOf(reports, 'report')}` : publishers.join(', '),
  events: ({ events, datasets }: Digest['seen'][number]) => `${countOf(events, 'event')} in ${datasets.join(', ')}`,
  more: (count: number) => `and ${count} more`,
  nothing: 'Nothing relevant happened in this week.',
  profile: 'The digest follows your relevance profile.',
};
