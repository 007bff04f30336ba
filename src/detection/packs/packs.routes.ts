import { adminRoutes, apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { operatorOf } from '../../platform/http/caller.ts';
import { requireOrgId } from '../../platform/orgs/limits/quotas.ts';
import { applyPack, readDetectionPack } from './apply-pack.ts';
import type { UpdateDetectionDeps } from '../detections/update-detection.ts';
import { IdPath } from '../detections/record/detection-input.schema.ts';
import { ApplyPack, DetectionPackResult, PackPath, PackResult } from './packs.schema.ts';

const bodyBytesMax = 16 * 1024 * 1024;

/** Registers the application of detection packs to organizations, which needs the key of the installation, and where a detection comes from. */
export function packRoutes(app: App, deps: UpdateDetectionDeps & { operator: string }): void {
  apiRoutes(app, { tag: 'detections', scope: 'detections:read' })(
    'GET /api/detections/:id/pack',
    {
      operationId: 'getDetectionPack',
      summary: 'Get the pack that a detection comes from, and what the organization changed in it',
      params: IdPath,
      returns: DetectionPackResult,
    },
    ({ caller, params }) => readDetectionPack(deps, caller, params.id),
  );
  adminRoutes(app, 'admin')(
    'POST /api/admin/organizations/:id/packs/:pack',
    {
      operationId: 'applyPack',
      summary: 'Apply a detection pack to an organization',
      description:
        'Creates and updates the detections of the pack, field by field. What the organization changed or deleted stays and is reported, unless `force` is set. With `dryRun`, the result is the drift report.',
      bodyBytesMax,
      params: PackPath,
      body: ApplyPack,
      returns: PackResult,
    },
    async ({ params: { id, pack }, body }) => {
      const orgId = await requireOrgId(deps.db, { id });
      const caller = { ...operatorOf(orgId), subject: `${deps.operator}, pack ${pack}` };
      return { organization: orgId, ...(await applyPack(deps, caller, { ...body, pack })) };
    },
  );
}
