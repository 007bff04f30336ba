import type { EntityDetail } from '../../api/entities.ts';
import { texts } from '../../texts/entities.ts';
import { IndicatorTable } from '../../ui/indicators/indicator-table.tsx';
import { listPublishers } from './publishers.ts';

/** The indicators of an entity with who names them: those that a passage states first, and of these the active ones. */
export function EntityIndicators({ entity }: { entity: EntityDetail }) {
  const { name, indicators } = entity;
  return (
    <IndicatorTable
      fileName={`indicators-${name}`}
      note={indicators.some(({ isStated }) => isStated) ? texts.statedNote : undefined}
      rows={indicators.map(({ type, value, status, isStated, items }) => ({
        type,
        value,
        normalizedValue: value,
        status,
        detail: [...(isStated ? [texts.stated] : []), listPublishers(entity, items)].filter(Boolean).join(' · '),
      }))}
    />
  );
}
