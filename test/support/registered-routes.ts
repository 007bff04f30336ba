import type { App } from '../../src/platform/http/app-type.ts';

export type Route = { method: string; path: string };

/** Lists every registered route, including hidden ones, with `{id}` for parameters. HEAD and OPTIONS are omitted. */
export function registeredRoutes(app: App): Route[] {
  const open: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const match = /^(.*?)[├└]── (\S+)(?: \(([A-Z, ]+)\))?$/.exec(line);
      if (!match) return [];
      const [, indent = '', part = '', methods = ''] = match;
      open.length = indent.length / 4;
      open.push(part);
      const path = open.join('').replaceAll(/:(\w+)/g, '{$1}');
      return methods
        .split(', ')
        .filter((method) => method !== '' && method !== 'HEAD' && method !== 'OPTIONS')
        .map((method) => ({ method, path }));
    });
}

/** Paths without a key. A trailing `*` matches every path below. */
const openPaths = [
  '/api/session/single-sign-on',
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/docs*',
  '/console*',
  '/services/collector/health*',
];
/** Routes that exchange a secret for a session. */
const signIn = ['POST /api/session', 'POST /api/session/link'];
/** A signature stands in for the key. */
const signed = ['POST /api/hooks/{id}'];

export const isOpen = ({ method, path }: Route): boolean =>
  [...signIn, ...signed].includes(`${method} ${path}`) ||
  openPaths.some((open) => (open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open));

/** Returns whether a standard or the protocol of a shipper describes the route: its parameters and answers are not ours. */
export const isForeignProtocol = (path: string): boolean =>
  /^\/(?:taxii2|elasticsearch|opensearch|services\/collector|v1\/logs|loki)\b/.test(path);
