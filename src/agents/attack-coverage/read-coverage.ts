import { readOrgState } from '../../feed/items/snapshot/org-state.store.ts';
import {
  findTechnique,
  getParentTechniqueId,
  listTactics,
  listTechniques,
  getAttackVersion,
} from '../../feed/reference-data/attack.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import { type Clock, lastUtcDays } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toResult } from '../rehearsals/read-rehearsals.ts';
import { listRehearsalRows } from '../rehearsals/rehearsals.store.ts';
import type { Coverage, CoveredTechnique, NavigatorLayer } from './coverage.schema.ts';
import {
  listSuggestedTechniques,
  listTaggedDetections,
  listThreats,
  type TaggedDetectionRow,
  type ThreatRow,
} from './coverage.store.ts';
import { combineWeights, weighDetection } from './detection-weight.ts';

const listedMax = 20;
const itemsMax = 20_000;
const dayMs = 86_400_000;

export type CoverageDeps = { db: Db; clock: Clock };

/** Returns the ATT&CK techniques with the detections that cover them and the relevant feed items that mention them. */
export async function getCoverage({ db, clock }: CoverageDeps, caller: Caller, days = 90): Promise<Coverage> {
  const now = clock();
  const since = new Date(now.getTime() - days * dayMs);
  const [firstDay] = lastUtcDays(now, 30) as [string];
  const { orgId, scopes } = caller;
  const found = await inOrg(db, orgId, async (tx) => {
    const orgState = await readOrgState(tx);
    const none = { threats: [] as ThreatRow[], read: 0 };
    return {
      profile: orgState.profile,
      detections: await listTaggedDetections(tx, orgId, firstDay),
      suggestions: await listSuggestedTechniques(tx, orgId),
      rehearsals: await listRehearsalRows(tx, orgId, null),
      ...(scopes.has('feed:read') ? await listThreats(tx, orgState, { since, limit: itemsMax }) : none),
    };
  });
  const covering = groupByTechnique(found.detections);
  const threats = new Map(found.threats.map((threat) => [currentId(threat.technique), threat]));
  const suggestions = Map.groupBy(found.suggestions, ({ technique }) => currentId(technique));
  const rehearsals = new Map(found.rehearsals.map((row) => [row.technique, toResult(row)]));
  const weightsOf = (id: string): number[] => (covering.get(id) ?? []).map(({ weight }) => weight);
  const children = Map.groupBy(
    listTechniques().filter(({ id }) => id.includes('.')),
    ({ id }) => getParentTechniqueId(id),
  );
  const techniques = listTechniques()
    .map(({ id, name, tactics }): CoveredTechnique => {
      const detections = covering.get(id) ?? [];
      const threat = threats.get(id);
      const ofGroup = [id, ...(children.get(id) ?? []).map((child) => child.id)];
      return {
        id,
        name,
        tactics,
        parentId: id.includes('.') ? getParentTechniqueId(id) : null,
        score: combineWeights(weightsOf(id)),
        groupScore: combineWeights(ofGroup.flatMap(weightsOf)),
        detections: detections.slice(0, listedMax),
        detectionCount: detections.length,
        threats: threat ? toThreats(threat) : null,
        rehearsed: rehearsals.get(id) ?? null,
        suggestionIds: (suggestions.get(id) ?? []).slice(0, listedMax).map((suggestion) => suggestion.id),
      };
    })
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    at: now.toISOString(),
    since: since.toISOString(),
    tactics: listUsedTactics(techniques),
    techniques,
    profile: found.profile,
    isComplete: found.read < itemsMax,
  };
}

/** Returns the id that ATT&CK uses today. An unknown id stays. */
const currentId = (id: string): string => findTechnique(id)?.id ?? id;

function groupByTechnique(rows: TaggedDetectionRow[]): Map<string, CoveredTechnique['detections']> {
  const grouped = new Map<string, CoveredTechnique['detections']>();
  for (const { id, name, techniques, ...detection } of rows) {
    const covering = { id, name, health: detection.health, ...weighDetection(detection) };
    for (const technique of new Set(techniques.map(currentId)))
      grouped.set(technique, [...(grouped.get(technique) ?? []), covering]);
  }
  for (const list of grouped.values()) list.sort((a, b) => b.weight - a.weight || a.name.localeCompare(b.name));
  return grouped;
}

const toThreats = ({ items, id, title, addedToFeedAt }: ThreatRow): CoveredTechnique['threats'] => ({
  items,
  latest: { id, title, addedToFeedAt: addedToFeedAt.toISOString() },
});

function listUsedTactics(techniques: CoveredTechnique[]): Coverage['tactics'] {
  const used = new Set(techniques.flatMap(({ tactics }) => tactics));
  return listTactics()
    .filter(({ shortName }) => used.has(shortName))
    .map(({ id, name, shortName }) => ({ id, name, shortName }));
}

const threatColor = '#d9480f';
const colors = ['#ffffff', '#4263eb'];

/**
 * Returns coverage as a layer of the ATT&CK Navigator (layer format 4.5). The score is the coverage in percent. A technique that relevant feed
 * items mention and no detection covers has a color of its own.
 */
export function toNavigatorLayer({ at, since, techniques }: Coverage): NavigatorLayer {
  return {
    name: 'Tocsin coverage',
    description: `Detections weighted by health on ${at.slice(0, 10)}, beside relevant feed items since ${since.slice(0, 10)}.`,
    versions: { attack: getAttackVersion().split('.')[0]!, navigator: '5.1.0', layer: '4.5' },
    domain: 'enterprise-attack',
    techniques: techniques.filter((one) => one.detectionCount > 0 || one.threats).map(toLayerTechnique),
    gradient: { colors, minValue: 0, maxValue: 100 },
    legendItems: [{ label: 'Threat without a working detection', color: threatColor }],
  };
}

function toLayerTechnique(technique: CoveredTechnique): NavigatorLayer['techniques'][number] {
  const { id, score, detections, detectionCount, threats, parentId, rehearsed } = technique;
  const items = threats?.items ?? 0;
  return {
    techniqueID: id,
    score: Math.round(score * 100),
    ...(score === 0 && items > 0 ? { color: threatColor } : {}),
    comment: detections
      .map(({ name, health, weight }) => `${name} (${health}, ${Math.round(weight * 100)} %)`)
      .join('\n'),
    enabled: true,
    showSubtechniques: parentId !== null,
    metadata: [
      { name: 'detections', value: String(detectionCount) },
      { name: 'feed items', value: String(items) },
      ...(rehearsed ? [{ name: 'rehearsed', value: rehearsed.state.replaceAll('_', ' ') }] : []),
    ],
  };
}
