import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { compact, oneOf, textOf, type Search } from './search.ts';
import { shell } from './shell.ts';

const ranges = ['1h', '24h', '7d', '30d'] as const;
type Range = (typeof ranges)[number];
type LogsSearch = {
  dataset?: string | undefined;
  range?: Range | undefined;
  /** A time selected in the chart, instead of a range. */
  from?: string | undefined;
  to?: string | undefined;
  /** The query that was run. */
  q?: string | undefined;
};

/** Returns a parameter if it is a time. */
function timeOf(search: Search, name: string): string | undefined {
  const text = textOf(search, name);
  return text !== undefined && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

const explore = createRoute({
  getParentRoute: () => shell,
  path: '/logs',
  validateSearch: (search: Search): LogsSearch =>
    compact({
      dataset: textOf(search, 'dataset'),
      range: oneOf(search, 'range', ranges),
      from: timeOf(search, 'from'),
      to: timeOf(search, 'to'),
      q: textOf(search, 'q'),
    }),
  component: lazyRouteComponent(() => import('../pages/logs/logs-page.tsx'), 'LogsPage'),
});

export const logRoutes = [explore] as const;
