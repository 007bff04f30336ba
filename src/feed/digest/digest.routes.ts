import { z } from 'zod';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { tlps } from '../model/vocabulary.ts';
import { Digest, weekPattern } from './digest.schema.ts';
import { getDigest, listDigests, type DigestDeps } from './read-digest.ts';
import { renderHtml, renderMarkdown, renderRss } from './render-digest.ts';

const WeekPath = z.object({
  week: z
    .string()
    .regex(weekPattern, 'must be `current`, `last` or an ISO week such as 2026-W48')
    .describe('`last` (the last complete week), `current`, or an ISO week such as `2026-W48`.'),
});
const DigestsQuery = z.object({ maxTlp: z.enum(tlps).default('GREEN') });
const FormatQuery = z.object({ format: z.enum(['json', 'markdown', 'html']).optional() });
const files = {
  markdown: { type: 'text/markdown; charset=utf-8', extension: 'md', render: renderMarkdown },
  html: { type: 'text/html; charset=utf-8', extension: 'html', render: renderHtml },
};

export function digestRoutes(app: App, deps: DigestDeps): void {
  const { publicUrl } = deps.config;
  apiRoutes(app, { tag: 'feed', scope: 'feed:read' })(
    'GET /api/feed/digests/:week',
    {
      operationId: 'getFeedDigest',
      summary: 'Get what was relevant in a week',
      description:
        'Relevant stories with reasons, exploited vulnerabilities in products of the profile, requirements that were met, corrections and retractions, and indicators first seen in the logs. Weeks begin on Monday in the time zone of the profile. With `format=markdown` or `format=html` it is a file instead.',
      params: WeekPath,
      query: FormatQuery,
      returns: Digest,
    },
    async ({ caller, params, query: { format = 'json' }, reply }) => {
      const digest = await getDigest(deps, caller, params.week);
      if (format === 'json') return digest;
      const { type, extension, render } = files[format];
      const disposition = `attachment; filename="digest-${digest.week}.${extension}"`;
      return reply
        .headers({ 'content-type': type, 'content-disposition': disposition })
        .send(render(digest, publicUrl) as never);
    },
  );
  app.route({
    method: 'GET',
    url: '/api/feed/export/digests',
    config: { scope: 'feed:read', acceptsBasicAuth: true },
    schema: {
      operationId: 'exportDigests',
      tags: ['exports'],
      summary: 'Export the digests of the last four weeks as RSS',
      description:
        'One entry for each complete week. Items that are marked stricter than `maxTlp` (default: `GREEN`) are left out.',
      querystring: DigestsQuery,
      response: { 200: { description: 'OK', content: { 'application/rss+xml': { schema: z.string() } } } },
    },
    handler: async (request, reply) =>
      reply
        .header('content-type', 'application/rss+xml; charset=utf-8')
        .send(renderRss(await listDigests(deps, requireCaller(request), request.query.maxTlp), publicUrl) as never),
  });
}
