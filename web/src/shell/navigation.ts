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
