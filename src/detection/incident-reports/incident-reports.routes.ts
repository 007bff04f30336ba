import { z } from 'zod';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { IncidentPath } from '../incidents/incidents.schema.ts';
import { exportBundle } from './evidence-bundle.ts';
import { IncidentReport, ReportQuery } from './incident-reports.schema.ts';
import { getIncidentReport, type ReportDeps } from './read-report.ts';
import { renderHtml, renderMarkdown } from './render-report.ts';

const zipType = 'application/zip';
const files = {
  markdown: { type: 'text/markdown; charset=utf-8', extension: 'md', render: renderMarkdown },
  html: { type: 'text/html; charset=utf-8', extension: 'html', render: renderHtml },
};

export function incidentReportRoutes(app: App, deps: ReportDeps): void {
  const route = apiRoutes(app, { tag: 'incidents', scope: 'hits:read' });
  route(
    'GET /api/incidents/:id/report',
    {
      operationId: 'getIncidentReport',
      summary: 'Report what happened in an incident',
      description:
        'With `format=markdown` or `format=html` the report is a file instead. Each sentence states a hit or is a claim of the verdict on it, and cites what that claim cites.',
      params: IncidentPath,
      query: ReportQuery,
      returns: IncidentReport,
    },
    async ({ caller, params, query: { format = 'json' }, reply }) => {
      const { report } = await getIncidentReport(deps, caller, params.id);
      if (format === 'json') return report;
      const { type, extension, render } = files[format];
      const disposition = `attachment; filename="incident-${report.incident.id}.${extension}"`;
      return reply.headers({ 'content-type': type, 'content-disposition': disposition }).send(render(report) as never);
    },
  );
  app.route({
    method: 'GET',
    url: '/api/incidents/:id/bundle',
    config: { scope: 'hits:read' },
    schema: {
      operationId: 'exportIncidentBundle',
      tags: ['incidents'],
      summary: 'Export an incident with all evidence as a zip archive',
      description:
        'The report, each hit with the rows and observations that its claims cite, the run and the version of the detection behind it, and the hash of every file. The audit log records the export, and its entry is in the archive, so that `tocsin verify-bundle` can check the archive without the service.',
      params: IncidentPath,
      response: {
        200: { description: 'OK', content: { [zipType]: { schema: z.string().meta({ contentMediaType: zipType }) } } },
      },
    },
    handler: async (request, reply) => {
      const { incidentId, zip } = await exportBundle(deps, requireCaller(request), request.params.id);
      const disposition = `attachment; filename="incident-${incidentId}.zip"`;
      return reply.headers({ 'content-type': zipType, 'content-disposition': disposition }).send(zip as never);
    },
  });
}
