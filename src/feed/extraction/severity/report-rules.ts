import type { Severity } from '../../model/vocabulary.ts';
import type { ExtractedName } from '../names/extracted-name.ts';
import {
  findNear,
  hasManyTargets,
  describesLure,
  hasTarget,
  isActivity,
  isExploitation,
  isThreat,
  mentionsActingActor,
  mentionsActor,
  mentionsAttackerOrVictims,
  mentionsName,
  isSubject,
  openingStatements,
  subjectStatements,
  findNuisance,
  findOpenData,
} from './event-checks.ts';
import { statesCue, type Statement } from './report-statements.ts';
import { cue } from '../lexicon/lexicon.ts';

/**
 * The input of the rules: statements of current events in the title and the lead, those in the rest of the text, and the names in the
 * text.
 */
export type ReportView = {
  lead: Statement[];
  body: Statement[];
  names: ExtractedName[];
  isUnexploited: boolean;
  /** Number of active indicators. */
  indicators: number;
};

/** A rule returns the statements that support its severity, none if it does not apply. */
export type ReportRule = { id: string; severity: Severity; find: (view: ReportView) => Statement[] };

/** The rules in the order in which they apply. */
export const reportRules: ReportRule[] = [
  {
    id: 'report:decryptor',
    severity: 'low',
    find: ({ lead }) => {
      const found = lead.slice(0, openingStatements).filter(({ text }) => cue('decryptor').test(text));
      return found.length > 1 || (found[0] && lead.indexOf(found[0]) < 2) ? found : [];
    },
  },
  {
    id: 'report:open-data',
    severity: 'low',
    find: findOpenData,
  },
  { id: 'report:supply-chain', severity: 'critical', find: findSupplyChainCompromise },
  { id: 'report:destructive-attack', severity: 'critical', find: findDestructiveAttack },
  { id: 'report:exploited-now', severity: 'critical', find: findExploitedService },
  {
    id: 'report:nuisance',
    severity: 'low',
    find: findNuisance,
  },
  { id: 'report:ransomware', severity: 'high', find: findRansomwareOperation },
  {
    id: 'report:named-actor',
    severity: 'high',
    find: ({ lead, names }) =>
      lead.filter(
        (one) =>
          ((mentionsActor(one, names) || statesCue(one, 'actor')) && (one.isTitle || isActivity(one))) ||
          mentionsActingActor(one, names),
      ),
  },
  {
    id: 'report:exploited',
    severity: 'high',
    find: ({ lead, isUnexploited }) =>
      isUnexploited
        ? []
        : [
            ...lead.filter(
              (one) =>
                isExploitation(one) &&
                (isActivity(one) || statesCue(one, 'activeExploitation') || /\bCVE-\d{4}-\d+/i.test(one.text)),
            ),
            ...findNear(
              lead,
              (one) => statesCue(one, 'observedAttack'),
              ({ text }) => cue('vulnerability').test(text),
            ),
          ],
  },
  // Attacks in a text whose title only discloses a vulnerability are possibilities, research or background.
  {
    id: 'report:exploit-code',
    severity: 'medium',
    find: (view) => (disclosesVulnerability(view) ? findExploitCode(view) : []),
  },
  {
    id: 'report:vulnerability',
    severity: 'low',
    find: (view) => (disclosesVulnerability(view) ? findDisclosure(view) : []),
  },
  {
    id: 'report:research',
    severity: 'low',
    find: ({ lead }) => lead.slice(0, openingStatements).filter(({ text }) => cue('contest').test(text)),
  },
  // Offers and trade of criminals, without victims.
  {
    id: 'report:underground',
    severity: 'medium',
    find: ({ lead }) => lead.filter((one) => one.isTitle && cue('underground').test(one.text)),
  },
  {
    id: 'report:espionage',
    severity: 'high',
    find: ({ lead }) =>
      findNear(
        lead,
        (one) => statesCue(one, 'espionage') && isActivity(one),
        (one) => hasTarget(one) || (cue('dataOwner').test(one.text) && !cue('claim').test(one.text)),
      ),
  },
  {
    id: 'report:targets',
    severity: 'high',
    find: ({ lead }) => findNear(lead, (one) => isActivity(one) && hasTarget(one) && !describesLure(one), isThreat),
  },
  {
    id: 'report:initial-access',
    severity: 'high',
    find: ({ lead }) => lead.filter((one) => statesCue(one, 'initialAccess') && isActivity(one)),
  },
  {
    id: 'report:intrusion',
    severity: 'high',
    find: ({ lead }) => lead.filter((one) => statesCue(one, 'intrusion') && isActivity(one)),
  },
  {
    id: 'report:targets',
    severity: 'high',
    find: ({ lead, body }) =>
      lead.some(({ text }) => cue('malware').test(text))
        ? [...lead, ...body].filter((one) => statesCue(one, 'victimology') && hasTarget(one))
        : [],
  },
  {
    id: 'report:paper',
    severity: 'low',
    find: ({ lead }) => lead.filter(({ text }) => cue('paper').test(text)),
  },
  { id: 'report:malware', severity: 'medium', find: findMalwareAnalysis },
  {
    id: 'report:nuisance',
    severity: 'low',
    find: ({ lead }) => {
      const found = lead.filter((one) => statesCue(one, 'low'));
      return isSubject(found, lead) ? found : [];
    },
  },
  {
    id: 'report:research',
    severity: 'low',
    find: ({ lead }) => lead.filter((one) => statesCue(one, 'research')),
  },
  { id: 'report:vulnerability', severity: 'low', find: findDisclosure },
];

/** Returns whether the title is about a vulnerability and not about attackers or malware. */
function disclosesVulnerability({ lead, names }: ReportView): boolean {
  const title = lead.find(({ isTitle }) => isTitle);
  return (
    title !== undefined &&
    cue('vulnerability').test(title.text) &&
    !statesCue(title, 'malware') &&
    !statesCue(title, 'attacker') &&
    !mentionsName(title, names)
  );
}

/** Public code that exploits a vulnerability. */
function findExploitCode({ lead }: ReportView): Statement[] {
  return lead.filter((one) => statesCue(one, 'exploitCode') && (one.isTitle || cue('vulnerability').test(one.text)));
}

/** A vulnerability that is disclosed at the beginning of a report. Its effects are possibilities. */
export function findDisclosure({ lead }: Pick<ReportView, 'lead'>): Statement[] {
  return lead.slice(0, subjectStatements).filter(({ text }) => cue('disclosure').test(text));
}

/** A compromise of a product, package or update that many use. */
function findSupplyChainCompromise({ lead }: ReportView): Statement[] {
  const compromised = lead.filter(
    (one) => statesCue(one, 'supplyChain') && (one.isTitle || isActivity(one)) && !cue('imitation').test(one.text),
  );
  if (!isSubject(compromised, lead)) return [];
  const wide = lead.find(({ text }) => cue('wideUse').test(text) || cue('severalOrganizations').test(text));
  return wide ? [...new Set([...compromised.slice(0, 2), wide])] : [];
}

/** Ransomware or a wiper against several organizations or critical infrastructure. */
function findDestructiveAttack({ lead }: ReportView): Statement[] {
  const title = lead.find(({ isTitle }) => isTitle);
  const isSectorStated = title !== undefined && cue('criticalInfrastructure').test(title.text);
  const ransomed = lead.filter(
    (one) =>
      statesCue(one, 'ransomware') &&
      isActivity(one) &&
      (isSectorStated || hasManyTargets(one) || cue('attackWaves').test(one.text)),
  );
  if (ransomed.length > 0) return ransomed;
  const isRansomwareTitle = title !== undefined && statesCue(title, 'ransomware');
  const infrastructure = lead.filter(
    (one) => isRansomwareTitle && isActivity(one) && cue('criticalInfrastructure').test(one.text),
  );
  if (infrastructure.length > 0) return [title!, ...infrastructure];
  const wiped = lead.filter((one) => statesCue(one, 'wiper'));
  if (wiped.length < 2 && !wiped[0]?.isTitle) return [];
  const harmed = lead.filter(
    (one) =>
      isActivity(one) &&
      (hasManyTargets(one) || cue('organizations').test(one.text) || cue('vitalSectors').test(one.text)),
  );
  return harmed.length > 0 ? [...new Set([wiped[0]!, ...harmed])] : [];
}

/** Exploitation of software that faces the internet, by a named or classed actor or with victims. */
function findExploitedService(view: ReportView): Statement[] {
  const { lead, names, isUnexploited } = view;
  if (isUnexploited) return [];
  const exploitations = new Set(
    lead.slice(0, subjectStatements).filter((one) => isExploitation(one) && !cue('claim').test(one.text)),
  );
  const check = (one: Statement): boolean => exploitations.has(one);
  const isOpening = lead.slice(0, openingStatements).some(check);
  const exploited = findNear(lead, check, ({ text }) => cue('facing').test(text));
  if (exploited.length === 0) return [];
  // Later exploitation in a text about a new vulnerability is background, unless a known actor is behind it.
  const isBackground = !isOpening && disclosesVulnerability(view);
  const isByOrAgainst = (one: Statement): boolean =>
    isBackground ? mentionsActor(one, names) || cue('actor').test(one.text) : mentionsAttackerOrVictims(one, names);
  // If the exploitation is the subject, attackers and victims anywhere in the lead are its own.
  const by = isOpening ? lead.filter(isByOrAgainst).slice(0, 1) : findNear(lead, check, isByOrAgainst);
  return by.length > 0 ? [...new Set([...exploited, ...by])] : [];
}

/** Ransomware or a wiper in use, not only a sample of it. */
function findRansomwareOperation({ lead }: ReportView): Statement[] {
  const about = lead.filter((one) => statesCue(one, 'ransomware') || statesCue(one, 'wiper'));
  const isOperation = about.some((one) => hasTarget(one) || cue('operation').test(one.text));
  if (!isOperation || !isSubject(about, lead)) return [];
  const active = about.filter(isActivity);
  return active.length > 0 ? active : findNear(lead, (one) => about.includes(one), isActivity);
}

/** Described malware, or activity in a text whose title is about malware. */
function findMalwareAnalysis({ lead, names }: ReportView): Statement[] {
  const malware = names.filter(({ kind }) => kind === 'malware');
  const stated = lead.filter(
    (one) => !one.isTitle && isActivity(one) && (statesCue(one, 'malware') || mentionsName(one, malware)),
  );
  if (stated.length > 0) return stated;
  const title = lead.find(({ isTitle }) => isTitle);
  const isAbout =
    title !== undefined &&
    (statesCue(title, 'malware') ||
      names.some(({ kind, printed }) => kind === 'malware' && printed.some((form) => title.text.includes(form))));
  if (!isAbout) return [];
  return lead.filter((one) => !one.isTitle && (isActivity(one) || cue('behavior').test(one.text)));
}
