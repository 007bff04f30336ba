import type { CategoryAnalysis } from '../category.ts';
import { severityRules } from '../severity.ts';
import { everyEntity } from './every-entity.ts';

/** Someone gave, or gave themselves, more rights: every entity that the query returns. */
export const privilegeEscalation: CategoryAnalysis = everyEntity(severityRules.privilegeEscalation);
