import { getAttackVersion } from '../../feed/reference-data/attack.ts';
import type { Coverage, CoveredTechnique, NavigatorLayer } from './coverage.schema.ts';

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
  const { id, score, detections, detectionCount, threats, parentId } = technique;
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
    ],
  };
}
