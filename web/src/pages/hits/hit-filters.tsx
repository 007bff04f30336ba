import { useQuery } from '@tanstack/react-query';
import { detectionQuery } from '../../api/detections.ts';
import type { HitFilter, HitStatus } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { FilterChip } from '../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { severities, SeverityLabel } from '../../ui/labels/severity.tsx';
import type { Grouping } from './group-list.tsx';
import { StatusLabel } from './statuses.tsx';

type Search = HitFilter & { by?: Grouping | undefined };
type Props = { search: Search; onChange: (change: Search) => void };

const statusOptions = (Object.keys(texts.status) as HitStatus[]).map((value) => ({
  value,
  label: <StatusLabel status={value} />,
}));
const severityOptions = severities.map((value) => ({ value, label: <SeverityLabel severity={value} /> }));
const verdictOptions = (['undecided', 'raise', 'dismiss'] as const).map((value) => ({
  value,
  label: texts.verdicts[value],
}));
const groupings = (['wave', 'entity'] as const).map((value) => ({ value, label: texts.groups.by[value] }));

/** The filters of the list and its grouping. Groups have no search and no severity filter. */
export function HitFilters({
  search: { status, severity, verdict, detection, entity, value: ofValue, q, group, by },
  onChange,
}: Props) {
  const isGrouped = (by === 'wave' && !group) || (by === 'entity' && !entity);
  return (
    <>
      {!isGrouped && <SearchField label={texts.search} value={q} onChange={(next) => onChange({ q: next })} />}
      <FilterSelect
        label={texts.filters.status}
        value={status}
        options={statusOptions}
        onChange={(value) => onChange({ status: value })}
      />
      {!isGrouped && (
        <FilterSelect
          label={texts.filters.severity}
          value={severity}
          options={severityOptions}
          onChange={(value) => onChange({ severity: value })}
        />
      )}
      {!isGrouped && (
        <FilterSelect
          label={texts.filters.verdict}
          value={verdict}
          options={verdictOptions}
          onChange={(value) => onChange({ verdict: value })}
        />
      )}
      {detection && <DetectionChip id={detection} onRemove={() => onChange({ detection: undefined })} />}
      {entity && <FilterChip label={texts.entity} value={entity} onRemove={() => onChange({ entity: undefined })} />}
      {ofValue && <FilterChip label={texts.value} value={ofValue} onRemove={() => onChange({ value: undefined })} />}
      {group && (
        <FilterChip
          label={texts.groups.by.wave}
          value={group.slice(-6)}
          onRemove={() => onChange({ group: undefined })}
        />
      )}
      <FilterSelect
        label={texts.groups.label}
        value={by}
        options={groupings}
        onChange={(value) =>
          onChange({ by: value, q: undefined, group: undefined, entity: undefined, value: undefined })
        }
      />
    </>
  );
}

function DetectionChip({ id, onRemove }: { id: string; onRemove: () => void }) {
  const { data } = useQuery(detectionQuery(id));
  return <FilterChip label={texts.detection} value={data?.name ?? '…'} onRemove={onRemove} />;
}
