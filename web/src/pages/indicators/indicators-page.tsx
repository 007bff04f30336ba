import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { lookupMax, lookupQuery, type IndicatorLookup } from '../../api/indicators.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { splitValues } from '../../lib/split-values.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/indicators.ts';
import { IconButton, Button, buttonClass } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { IndicatorView } from './indicator-view.tsx';
import { classes, formatNumber } from '../../lib/text.ts';
import { DataTable, type Column } from '../../ui/lists/data-table.tsx';
import { IndicatorStatus } from './indicator-status.tsx';
import { Value } from '../../ui/value.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

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
              <EmptyState
                title={texts.empty}
                action={
                  <Link to="/feed" className={buttonClass('primary')}>
                    {common.nextStep.lookUp}
                  </Link>
                }
              >
                {texts.emptyBody}
              </EmptyState>
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

type Props = { values: readonly string[]; onLookUp: (values: string[]) => void };

/** Where values are pasted. Ctrl or Cmd with Enter looks them up. */
function LookupForm({ values, onLookUp }: Props) {
  const [{ text }, setValues, draft] = useDraft('look-up', { text: values.join('\n') });
  const found = splitValues(text);
  const lookUp = (): void => {
    draft.forget();
    onLookUp(found);
  };
  return (
    <form
      className="flex flex-col gap-2 border-b p-4"
      onSubmit={(event) => {
        event.preventDefault();
        lookUp();
      }}
    >
      <textarea
        value={text}
        onChange={(event) => setValues({ text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          lookUp();
        }}
        aria-label={texts.paste}
        placeholder={texts.paste}
        rows={Math.min(8, Math.max(3, values.length + 1))}
        spellCheck={false}
        className="w-full resize-y rounded-control border border-line-strong bg-surface px-2.5 py-1.5 font-mono text-12 leading-5 placeholder:font-sans placeholder:text-faint"
      />
      <div className="flex items-center gap-3">
        <Button kind="primary" type="submit" disabled={found.length === 0}>
          {texts.lookUp}
        </Button>
        {found.length > lookupMax && (
          <span className="text-12 text-muted">{texts.limited(lookupMax, found.length)}</span>
        )}
        <RestoredDraft draft={draft} />
      </div>
    </form>
  );
}

const columns: Column<IndicatorLookup>[] = [
  {
    id: 'value',
    header: texts.value,
    width: 'minmax(7rem, 1fr)',
    cell: ({ value }) => (
      <Value value={value} isCut>
        <span title={value} className="font-mono">
          {value}
        </span>
      </Value>
    ),
  },
  {
    id: 'type',
    header: texts.type,
    width: '8rem',
    from: 560,
    cell: ({ type }) => <span className="text-muted">{type?.replaceAll('_', ' ') ?? '–'}</span>,
  },
  { id: 'status', header: texts.status, width: '8rem', cell: ({ status }) => <IndicatorStatus status={status} /> },
  {
    id: 'items',
    header: texts.items,
    width: '4.5rem',
    align: 'right',
    cell: ({ total }) => <span className={classes(total === 0 && 'text-faint')}>{formatNumber(total)}</span>,
  },
];

type TableProps = { indicators: IndicatorLookup[]; openValue: string | undefined; onOpen: (value: string) => void };

const LookupTable = ({ indicators, openValue, onOpen }: TableProps) => (
  <DataTable
    label={texts.title}
    rows={indicators}
    columns={columns}
    rowId={({ value }) => value}
    rowLabel={({ value }) => value}
    activeId={openValue}
    onOpen={({ value }) => onOpen(value)}
  />
);
