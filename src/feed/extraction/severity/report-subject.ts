import type { Statement } from './report-statements.ts';

/** The first statements of a report state its subject. */
export const openingStatements = 4;
export const subjectStatements = 14;

/** Returns whether statements are the subject of a report: several of them, or one of the first. */
export const isSubject = (found: Statement[], lead: Statement[]): boolean =>
  found.length > 1 || (found[0] !== undefined && lead.slice(0, openingStatements).includes(found[0]));
