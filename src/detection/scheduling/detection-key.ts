import type { OrgId } from '../../platform/lib/org-id.ts';

export type DetectionKey = { orgId: OrgId; detectionId: string };
