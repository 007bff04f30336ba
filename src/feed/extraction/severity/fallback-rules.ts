import { isActivity, isThreat, mentionsName } from './event-checks.ts';
import { statesCue } from './report-statements.ts';
import type { ReportRule } from './report-rules.ts';
import { subjectStatements } from './report-subject.ts';
import { cue } from '../lexicon/lexicon.ts';

/** This many active indicators describe a threat even without prose. */
const listedIndicators = 3;

/** The last rules, for texts that no other rule rates and that describe no old event. */
export const fallbackRules: ReportRule[] = [
  {
    id: 'report:indicators',
    severity: 'medium',
    find: ({ lead, body, names, indicators }) => {
      if (indicators < listedIndicators) {
        // One indicator of known malware or a known actor describes a threat, too.
        return indicators > 0 ? lead.filter((one) => !one.isTitle && mentionsName(one, names)).slice(0, 1) : [];
      }
      const stated = [...lead, ...body].filter(({ text }) => cue('indicator').test(text));
      return stated.length > 0 ? stated : lead.slice(0, 1);
    },
  },
  {
    id: 'report:threat',
    severity: 'medium',
    find: ({ lead }) => {
      const opening = lead.slice(0, subjectStatements);
      const isAboutMalware = opening.some((one) => one.isTitle && statesCue(one, 'malware'));
      const found = opening.filter(
        (one) => isThreat(one) && (isAboutMalware || isActivity(one)) && !cue('claim').test(one.text),
      );
      return found.length > 1 ? found : [];
    },
  },
  // Findings of researchers that no other rule names: exposed systems, leaks, tricks.
  {
    id: 'report:finding',
    severity: 'low',
    find: ({ lead }) => {
      const isAbout = lead.some(({ isTitle, text }) => isTitle && cue('findingTitles').test(text));
      return isAbout ? lead.slice(0, subjectStatements).filter((one) => !one.isTitle && isActivity(one)) : [];
    },
  },
];
