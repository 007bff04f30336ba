import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { Coverage, CoverageQuery, NavigatorLayer } from './coverage.schema.ts';
import { toNavigatorLayer, getCoverage, type CoverageDeps } from './read-coverage.ts';

const daysOf = ({ days }: CoverageQuery): number | undefined => (days === undefined ? undefined : Number(days));

export function coverageRoutes(app: App, deps: CoverageDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'GET /api/coverage',
    {
      operationId: 'getCoverage',
      summary: 'Get the ATT&CK techniques with their detections, weighted by health, and the threats of the feed',
      description:
        'A detection covers the techniques of its tags, such as `attack.t1059.001`. Its weight falls with its health, without runs, without tests, and with its precision. `threats` counts relevant feed items.',
      query: CoverageQuery,
      returns: Coverage,
    },
    ({ caller, query }) => getCoverage(deps, caller, daysOf(query)),
  );
  route(
    'GET /api/coverage/navigator',
    {
      operationId: 'exportNavigatorLayer',
      summary: 'Export the coverage as a layer of the ATT&CK Navigator',
      query: CoverageQuery,
      returns: NavigatorLayer,
    },
    async ({ caller, query, reply }) => {
      void reply.header('content-disposition', 'attachment; filename="tocsin-coverage.json"');
      return toNavigatorLayer(await getCoverage(deps, caller, daysOf(query)));
    },
  );
}
