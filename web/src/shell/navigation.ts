import { Crosshair, Grid3x3, House, Lightbulb, Radar, Rss, ScrollText, Settings } from 'lucide-react';
import { texts } from '../texts/common.ts';

/** The pages of the sidebar, in order. `key` follows `g` on the keyboard. */
export const pages = [
  { path: '/', label: texts.pages.overview, icon: House, key: 'o' },
  { path: '/hits', label: texts.pages.hits, icon: Crosshair, key: 'h' },
  { path: '/detections', label: texts.pages.detections, icon: Radar, key: 'd' },
  { path: '/logs', label: texts.pages.logs, icon: ScrollText, key: 'l' },
  { path: '/feed', label: texts.pages.feed, icon: Rss, key: 'f' },
  { path: '/coverage', label: texts.pages.coverage, icon: Grid3x3, key: 'c' },
  { path: '/suggestions', label: texts.pages.suggestions, icon: Lightbulb, key: 'u' },
  { path: '/settings', label: texts.pages.settings, icon: Settings, key: 's' },
] as const;

/** Pages that belong to one of the sidebar, by the beginnings of their addresses. */
const sections: Record<string, readonly string[]> = {
  '/hits': ['/incidents', '/hunts', '/review', '/approvals'],
  '/detections': ['/agents', '/rule-sources', '/runs'],
  '/feed': ['/stories', '/digest', '/entities', '/indicators', '/sources'],
};

/** Returns whether an address within the console is that of a page which belongs to one of the sidebar. */
export const isWithin = (pathname: string, page: string): boolean =>
  (sections[page] ?? []).some((path) => pathname === path || pathname.startsWith(`${path}/`));

/** The pages of hits, which stand side by side at their top. */
export const hitPages = [
  { path: '/hits', label: texts.pages.hits },
  { path: '/incidents', label: texts.pages.incidents },
  { path: '/hunts', label: texts.pages.hunts },
  { path: '/review', label: texts.pages.review },
  { path: '/approvals', label: texts.pages.approvals },
] as const;

/** The pages of detections, which stand side by side at their top. */
export const detectionPages = [
  { path: '/detections', label: texts.pages.detections },
  { path: '/agents', label: texts.pages.agents },
  { path: '/rule-sources', label: texts.pages.ruleSources },
] as const;

/** The pages of the feed, which stand side by side at its top. */
export const feedPages = [
  { path: '/feed', label: texts.sections.items },
  { path: '/stories', label: texts.pages.stories },
  { path: '/digest', label: texts.pages.digest },
  { path: '/entities', label: texts.pages.entities },
  { path: '/indicators', label: texts.pages.indicators },
  { path: '/sources', label: texts.pages.sources },
] as const;
