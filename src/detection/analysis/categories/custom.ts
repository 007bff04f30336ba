import type { CategoryAnalysis } from '../category.ts';
import { severityRules } from '../severity.ts';
import { everyEntity } from './every-entity.ts';

/** The author's own rule: every entity that the query returns. */
export const custom: CategoryAnalysis = everyEntity(severityRules.custom);
