import type { z } from 'zod';
import { describeRoute } from './api-routes.ts';
import type { App } from './app-type.ts';

type Line = `${'GET' | 'POST' | 'DELETE'} /api/admin/${string}`;
type Schema = z.ZodType;
type Options<Params, Query, Body, Result> = {
  operationId: string;
  summary: string;
  description?: string;
  ignoresBody?: boolean;
  secretField?: string;
  params?: Params;
  query?: Query;
  body?: Body;
  returns: Result;
};
type Input<Params extends Schema, Query extends Schema, Body extends Schema> = {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
};

/** Like `apiRoutes`, for routes that need the key of the installation and belong to no organization. */
export function adminRoutes(app: App, tag: string) {
  return <P extends Schema, Q extends Schema, B extends Schema, R extends Schema>(
    line: Line,
    { operationId, summary, description, params, query, body, returns, ...config }: Options<P, Q, B, R>,
    handle: (input: Input<P, Q, B>) => Promise<z.input<R>>,
  ): void => {
    const [method, url] = line.split(' ') as [string, string];
    app.route({
      method,
      url,
      config: { isAdmin: true, ...config },
      schema: describeRoute(tag, { operationId, summary, description, params, query, body, returns }),
      // The schemas have validated all three.
      handler: (({ params: path, query: search, body: content }: Input<P, Q, B>) =>
        handle({ params: path, query: search, body: content })) as never,
    });
  };
}
