import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../../api/client.ts';
import { facetsQuery, type FeedFilter, type ItemStatus, type LinkedFilter } from '../../../api/feed.ts';
import { profileQuery } from '../../../api/relevance.ts';
import { platformName } from '../../../texts/platforms.ts';
import { texts } from '../../../texts/feed.ts';
import { FilterChip } from '../../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../../ui/forms/filter-select.tsx';
import { SearchField } from '../../../ui/forms/search-field.tsx';
import { severities, SeverityLabel } from '../../../ui/labels/severity.tsx';

const severityOptions = severities.map((value) => ({ value, label: <SeverityLabel severity={value} /> }));
const statusOptions = (Object.keys(texts.status) as ItemStatus[]).map((value) => ({
  value,
  label: texts.status[value],
}));
const relevanceOptions = [{ value: 'relevant' as const, label: texts.relevantOnly }];
/** Without a choice, the best match of a search comes first. */
const orderOptions = [{ value: 'newest' as const, label: texts.newestFirst }];

const linked = Object.entries(texts.linkedFilters) as [LinkedFilter, string][];

type Option<Value extends string> = { value: Value; label: React.ReactNode };
type Props = { filter: FeedFilter; onChange: (change: Partial<FeedFilter>) => void };

export function FeedFilters({ filter, onChange }: Props) {
  const { data } = useQuery(facetsQuery(filter));
  const { data: profile } = useQuery(profileQuery);
  const requirements = withChosen(
    (profile?.requirements ?? []).map(({ name }) => name),
    filter.requirement,
  );
  const isEstimated = data?.outputs?.totalIsEstimated;
  const counted = <Value extends string>(options: readonly Option<Value>[], counts: Record<string, number> = {}) =>
    options.map((option) => ({
      ...option,
      count: texts.count(counts[option.value] ?? 0, isEstimated),
    }));
  return (
    <>
      <SearchField
        label={texts.search}
        value={filter.q}
        onChange={(q) => onChange({ q, ...(!q && { searchOrder: undefined }) })}
      />
      <FilterSelect
        label={texts.filters.severity}
        value={filter.severity}
        options={counted(severityOptions, data?.severity)}
        onChange={(severity) => onChange({ severity })}
      />
      <FilterSelect
        label={texts.filters.relevance}
        value={filter.relevancyMode === 'relevant' ? 'relevant' : undefined}
        options={relevanceOptions}
        onChange={(relevancyMode) => onChange({ relevancyMode })}
      />
      {requirements.length > 0 && (
        <FilterSelect
          label={texts.filters.requirement}
          value={filter.requirement}
          options={requirements.map((value) => ({ value, label: <span className="max-w-72 truncate">{value}</span> }))}
          onChange={(requirement) => onChange({ requirement })}
        />
      )}
      <FilterSelect
        label={texts.filters.source}
        value={filter.source}
        options={listSources(data?.source ?? [], filter.source).map(({ name, type, items }) => ({
          value: name,
          label: name,
          group: texts.sourceTypes[type],
          count: texts.count(items, isEstimated),
        }))}
        onChange={(source) => onChange({ source })}
      />
      <FilterSelect
        label={texts.filters.platform}
        value={filter.platform}
        options={counted(
          withChosen(Object.keys(data?.platform ?? {}), filter.platform).map((value) => ({
            value,
            label: platformName(value),
          })),
          data?.platform,
        )}
        onChange={(platform) => onChange({ platform })}
      />
      <FilterSelect
        label={texts.filters.status}
        value={filter.status}
        options={counted(statusOptions, data?.status)}
        onChange={(status) => onChange({ status })}
      />
      {linked.map(
        ([name, label]) =>
          filter[name] && (
            <FilterChip
              key={name}
              label={label}
              value={filter[name]}
              onRemove={() => onChange({ [name]: undefined })}
            />
          ),
      )}
      {filter.q && (
        <FilterSelect
          label={texts.filters.order}
          value={filter.searchOrder === 'newest' ? 'newest' : undefined}
          options={orderOptions}
          onChange={(searchOrder) => onChange({ searchOrder })}
        />
      )}
    </>
  );
}

type SourceCount = Schemas['FeedFacets']['source'][number];

/** The sources, then the publishers, and the chosen one of an old link. */
function listSources(counts: readonly SourceCount[], chosen: string | undefined): SourceCount[] {
  const isListed = chosen === undefined || counts.some(({ name }) => name === chosen);
  const all = isListed ? counts : [{ name: chosen, type: 'source' as const, items: 0 }, ...counts];
  return all.toSorted((a, b) => Number(a.type === 'publisher') - Number(b.type === 'publisher'));
}

/** A value of an old link stays visible and removable, even if the feed no longer offers it. */
const withChosen = (values: readonly string[], chosen: string | undefined): string[] =>
  chosen === undefined || values.includes(chosen) ? [...values] : [chosen, ...values];
