import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { lookupMax, lookupQuery } from '../../api/indicators.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { splitValues } from '../../lib/split-values.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/indicators.ts';
import { IconButton } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { IndicatorView } from './indicator-view.tsx';
import { LookupForm } from './lookup-form.tsx';
import { LookupTable } from './lookup-table.tsx';

const route = getRouteApi('/shell/indicators');

/** Looks up pasted values, and shows everything known of one of them. */
export function IndicatorsPage() {
  const { values: pasted = '', value: openValue } = route.useSearch();
  const navigate = route.useNavigate();
  const all = useMemo(() => splitValues(pasted), [pasted]);
  const { data, error, refetch } = useQuery(lookupQuery(all.slice(0, lookupMax)));
  const open = (value: string | undefined): void =>
    void navigate({ search: (search) => ({ ...search, value }), replace: openValue !== undefined, resetScroll: false });
  const rows = data?.indicators ?? [];
  const index = rows.findIndex(({ value }) => value === openValue);
  useOpenKeys({ rows, index, onOpen: ({ value }) => open(value), onClose: () => open(undefined) });
  return (
    <>
      <PageHeader title={texts.title} links={<FeedLinks />} />
      <ListAndPanel
        list={
          <div className="flex h-full flex-col">
            <LookupForm
              key={pasted}
              values={all}
              onLookUp={(found) =>
                void navigate({
                  search: { values: found.join(' ') || undefined, value: found.length === 1 ? found[0] : undefined },
                })
              }
            />
            {error ? (
              <ErrorState error={error} onRetry={() => void refetch()} />
            ) : all.length === 0 ? (
              <EmptyState title={texts.empty}>{texts.emptyBody}</EmptyState>
            ) : !data ? (
              <TableSkeleton />
            ) : (
              <div className="min-h-0 grow">
                <LookupTable indicators={rows} openValue={openValue} onOpen={open} />
              </div>
            )}
          </div>
        }
        panel={
          openValue === undefined ? null : (
            <>
              <div className="flex min-h-11 items-center justify-end border-b px-4">
                <IconButton label={common.close} onClick={() => open(undefined)}>
                  <X className="size-4" aria-hidden />
                </IconButton>
              </div>
              <div className="min-h-0 grow overflow-y-auto" key={openValue} data-scroll-restoration-id={openValue}>
                <IndicatorView value={openValue} />
              </div>
            </>
          )
        }
      />
    </>
  );
}
