import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { decideCase, getCase, getCases } from './review-cases.ts';
import { getDismissals } from './audit-dismissals.ts';
import { CaseDecision, CaseDetail, CaseFilter, CaseList, CasePath, Dismissals } from './review-queue.schema.ts';

export function reviewQueueRoutes(
  app: App,
  deps: Parameters<typeof decideCase>[0] & Parameters<typeof getDismissals>[0],
): void {
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:read' });
  route(
    'GET /api/review-cases',
    {
      operationId: 'listReviewCases',
      summary: 'List the cases that are not hits and need a decision, latest first',
      description:
        'Cases that a judge left undecided, of detections with `onUndecided: review`, and dismissals of the audit. An undecided case becomes a hit a day after it was opened.',
      query: CaseFilter,
      returns: CaseList,
    },
    ({ caller, query }) => getCases(deps, caller, query),
  );
  route(
    'GET /api/review-cases/:id',
    {
      operationId: 'getReviewCase',
      summary: 'Get a case with its facts and everything that its verdict cites',
      params: CasePath,
      returns: CaseDetail,
    },
    ({ caller, params }) => getCase(deps, caller, params.id),
  );
  route(
    'GET /api/detections/:id/dismissals',
    {
      operationId: 'getDismissals',
      summary: 'Estimate from an audited sample how many dismissals of a detection were wrong at most',
      scope: 'detections:read',
      params: CasePath,
      returns: Dismissals,
    },
    ({ caller, params }) => getDismissals(deps, caller, params.id),
  );
  route(
    'POST /api/review-cases/:id/decision',
    {
      operationId: 'decideReviewCase',
      summary: 'Decide a case: it becomes a hit, or it is dismissed',
      scope: 'hits:write',
      params: CasePath,
      body: CaseDecision,
      returns: CaseDetail,
    },
    ({ caller, params, body }) => decideCase(deps, caller, params.id, body),
  );
}
