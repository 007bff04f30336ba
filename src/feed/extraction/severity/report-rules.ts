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
} from './event-checks.ts';
import { findNuisance, findOpenData } from './nuisance-rules.ts';
import { statesCue, type Statement } from './report-statements.ts';
import { isSubject, openingStatements, subjectStatements } from './report-subject.ts';
import * as cues from './severity-cues.ts';
import { attackWaves, criticalInfrastructureWords, severalOrganizations, vitalSectors } from './target-words.ts';

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

const organizations =
  /\b(?:organi[sz]ations|companies|agencies|entities|institutions|government systems|(?:dozens|hundreds|thousands) of (?:[\p{L}-]+ )?(?:computers|systems|machines|networks))\b/iu;

/** The rules in the order in which they apply. */
export const reportRules: ReportRule[] = [
  {
    id: 'report:decryptor',
    severity: 'low',
    find: ({ lead }) => {
      const found = lead.slice(0, openingStatements).filter(({ text }) => cues.decryptorCues.test(text));
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
          ((mentionsActor(one, names) || statesCue(one, cues.actorCues)) && (one.isTitle || isActivity(one))) ||
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
                (isActivity(one) ||
                  cues.activeExploitationCues.some((cue) => statesCue(one, cue)) ||
                  /\bCVE-\d{4}-\d+/i.test(one.text)),
            ),
            ...findNear(
              lead,
              (one) => statesCue(one, cues.observedAttackCues),
              ({ text }) => cues.vulnerabilityCues.test(text),
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
    find: ({ lead }) => lead.slice(0, openingStatements).filter(({ text }) => cues.contestCues.test(text)),
  },
  // Offers and trade of criminals, without victims.
  {
    id: 'report:underground',
    severity: 'medium',
    find: ({ lead }) => lead.filter((one) => one.isTitle && cues.undergroundCues.test(one.text)),
  },
  {
    id: 'report:espionage',
    severity: 'high',
    find: ({ lead }) =>
      findNear(
        lead,
        (one) => statesCue(one, cues.espionageCues) && isActivity(one),
        (one) => hasTarget(one) || (cues.dataOwnerCues.test(one.text) && !cues.claimCues.test(one.text)),
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
    find: ({ lead }) => lead.filter((one) => statesCue(one, cues.initialAccessCues) && isActivity(one)),
  },
  {
    id: 'report:intrusion',
    severity: 'high',
    find: ({ lead }) => lead.filter((one) => statesCue(one, cues.intrusionCues) && isActivity(one)),
  },
  {
    id: 'report:targets',
    severity: 'high',
    find: ({ lead, body }) =>
      lead.some(({ text }) => cues.malwareCues.test(text))
        ? [...lead, ...body].filter((one) => statesCue(one, cues.victimologyCues) && hasTarget(one))
        : [],
  },
  {
    id: 'report:paper',
    severity: 'low',
    find: ({ lead }) => lead.filter(({ text }) => cues.paperCues.test(text)),
  },
  { id: 'report:malware', severity: 'medium', find: findMalwareAnalysis },
  {
    id: 'report:nuisance',
    severity: 'low',
    find: ({ lead }) => {
      const found = lead.filter((one) => statesCue(one, cues.lowCues));
      return isSubject(found, lead) ? found : [];
    },
  },
  {
    id: 'report:research',
    severity: 'low',
    find: ({ lead }) => lead.filter((one) => statesCue(one, cues.researchCues)),
  },
  { id: 'report:vulnerability', severity: 'low', find: findDisclosure },
];

/** Returns whether the title is about a vulnerability and not about attackers or malware. */
function disclosesVulnerability({ lead, names }: ReportView): boolean {
  const title = lead.find(({ isTitle }) => isTitle);
  return (
    title !== undefined &&
    cues.vulnerabilityCues.test(title.text) &&
    !statesCue(title, cues.malwareCues) &&
    !statesCue(title, cues.attackerCues) &&
    !mentionsName(title, names)
  );
}

/** Public code that exploits a vulnerability. */
function findExploitCode({ lead }: ReportView): Statement[] {
  return lead.filter(
    (one) => statesCue(one, cues.exploitCodeCues) && (one.isTitle || cues.vulnerabilityCues.test(one.text)),
  );
}

/** A vulnerability that is disclosed at the beginning of a report. Its effects are possibilities. */
export function findDisclosure({ lead }: Pick<ReportView, 'lead'>): Statement[] {
  return lead.slice(0, subjectStatements).filter(({ text }) => cues.disclosureCues.test(text));
}

/** A compromise of a product, package or update that many use. */
function findSupplyChainCompromise({ lead }: ReportView): Statement[] {
  const compromised = lead.filter(
    (one) =>
      statesCue(one, cues.supplyChainCues) && (one.isTitle || isActivity(one)) && !cues.imitationCues.test(one.text),
  );
  if (!isSubject(compromised, lead)) return [];
  const wide = lead.find(({ text }) => cues.wideUseCues.test(text) || severalOrganizations.test(text));
  return wide ? [...new Set([...compromised.slice(0, 2), wide])] : [];
}

/** Ransomware or a wiper against several organizations or critical infrastructure. */
function findDestructiveAttack({ lead }: ReportView): Statement[] {
  const title = lead.find(({ isTitle }) => isTitle);
  const isSectorStated = title !== undefined && criticalInfrastructureWords.test(title.text);
  const ransomed = lead.filter(
    (one) =>
      statesCue(one, cues.ransomwareCues) &&
      isActivity(one) &&
      (isSectorStated || hasManyTargets(one) || attackWaves.test(one.text)),
  );
  if (ransomed.length > 0) return ransomed;
  const isRansomwareTitle = title !== undefined && statesCue(title, cues.ransomwareCues);
  const infrastructure = lead.filter(
    (one) => isRansomwareTitle && isActivity(one) && criticalInfrastructureWords.test(one.text),
  );
  if (infrastructure.length > 0) return [title!, ...infrastructure];
  const wiped = lead.filter((one) => statesCue(one, cues.wiperCues));
  if (wiped.length < 2 && !wiped[0]?.isTitle) return [];
  const harmed = lead.filter(
    (one) => isActivity(one) && (hasManyTargets(one) || organizations.test(one.text) || vitalSectors.test(one.text)),
  );
  return harmed.length > 0 ? [...new Set([wiped[0]!, ...harmed])] : [];
}

/** Exploitation of software that faces the internet, by a named or classed actor or with victims. */
function findExploitedService(view: ReportView): Statement[] {
  const { lead, names, isUnexploited } = view;
  if (isUnexploited) return [];
  const exploitations = new Set(
    lead.slice(0, subjectStatements).filter((one) => isExploitation(one) && !cues.claimCues.test(one.text)),
  );
  const check = (one: Statement): boolean => exploitations.has(one);
  const isOpening = lead.slice(0, openingStatements).some(check);
  const exploited = findNear(lead, check, ({ text }) => cues.facingCues.test(text));
  if (exploited.length === 0) return [];
  // Later exploitation in a text about a new vulnerability is background, unless a known actor is behind it.
  const isBackground = !isOpening && disclosesVulnerability(view);
  const isByOrAgainst = (one: Statement): boolean =>
    isBackground ? mentionsActor(one, names) || cues.actorCues.test(one.text) : mentionsAttackerOrVictims(one, names);
  // If the exploitation is the subject, attackers and victims anywhere in the lead are its own.
  const by = isOpening ? lead.filter(isByOrAgainst).slice(0, 1) : findNear(lead, check, isByOrAgainst);
  return by.length > 0 ? [...new Set([...exploited, ...by])] : [];
}

/** Ransomware or a wiper in use, not only a sample of it. */
function findRansomwareOperation({ lead }: ReportView): Statement[] {
  const about = lead.filter((one) => statesCue(one, cues.ransomwareCues) || statesCue(one, cues.wiperCues));
  const isOperation = about.some((one) => hasTarget(one) || cues.operationCues.test(one.text));
  if (!isOperation || !isSubject(about, lead)) return [];
  const active = about.filter(isActivity);
  return active.length > 0 ? active : findNear(lead, (one) => about.includes(one), isActivity);
}

/** Described malware, or activity in a text whose title is about malware. */
function findMalwareAnalysis({ lead, names }: ReportView): Statement[] {
  const malware = names.filter(({ kind }) => kind === 'malware');
  const stated = lead.filter(
    (one) => !one.isTitle && isActivity(one) && (statesCue(one, cues.malwareCues) || mentionsName(one, malware)),
  );
  if (stated.length > 0) return stated;
  const title = lead.find(({ isTitle }) => isTitle);
  const isAbout =
    title !== undefined &&
    (statesCue(title, cues.malwareCues) ||
      names.some(({ kind, printed }) => kind === 'malware' && printed.some((form) => title.text.includes(form))));
  if (!isAbout) return [];
  return lead.filter((one) => !one.isTitle && (isActivity(one) || cues.behaviorCues.test(one.text)));
}
