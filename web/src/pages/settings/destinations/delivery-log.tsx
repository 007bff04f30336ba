import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, Clock } from 'lucide-react';
import { deliveriesQuery, redeliver, testDestination, type Delivery } from '../../../api/destinations.ts';
import { texts as all } from '../../../texts/settings.ts';
import { FilterSelect } from '../../../ui/forms/filter-select.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { LoadMore } from '../../../ui/lists/load-more.tsx';
import { texts as common } from '../../../texts/common.ts';
import { Button } from '../../../ui/button.tsx';

const route = getRouteApi('/shell/settings/destinations/$id');
const texts = all.destinations;

const icons: Record<Delivery['state'], React.ReactNode> = {
  pending: <Clock className="size-3.5 text-medium" aria-hidden />,
  delivered: <CircleCheck className="size-3.5 text-good" aria-hidden />,
  failed: <CircleAlert className="size-3.5 text-bad" aria-hidden />,
};

function StateLabel({ state }: { state: Delivery['state'] }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      {icons[state]}
      {texts.states[state]}
    </span>
  );
}

const options = (Object.keys(texts.states) as Delivery['state'][]).map((value) => ({
  value,
  label: <StateLabel state={value} />,
}));

/** The deliveries to a destination, its responses, and the times of the next tries. */
export function DeliveryLog({ destinationId }: { destinationId: string }) {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(deliveriesQuery(destinationId, state));
  const again = useChange({
    change: (deliveryId: string) => redeliver(destinationId, deliveryId),
    refresh: [['destinations', 'deliveries', destinationId]],
    done: () => texts.redelivered,
    failed: texts.notRedelivered,
  });
  const columns: TableColumn<Delivery>[] = [
    {
      header: texts.at,
      cell: ({ lastTryAt, createdAt }) => (
        <span className="text-muted">
          <RelativeTime time={lastTryAt ?? createdAt} />
        </span>
      ),
    },
    { header: texts.event, cell: ({ eventType }) => <span className="font-mono">{eventType}</span> },
    {
      header: texts.state,
      cell: (delivery) => (
        <>
          <StateLabel state={delivery.state} />
          {delivery.state === 'pending' && delivery.nextTryAt && delivery.tries > 0 && (
            <span className="block text-muted">
              {texts.next} <RelativeTime time={delivery.nextTryAt} />
            </span>
          )}
        </>
      ),
    },
    {
      header: texts.answer,
      cell: ({ lastStatus, lastError }) => (
        <span className="block max-w-80 break-words text-muted">{lastError ?? lastStatus ?? '–'}</span>
      ),
    },
    { header: texts.tries, isFigure: true, cell: ({ tries }) => tries },
    { header: texts.took, isFigure: true, cell: ({ lastMs }) => lastMs ?? '–' },
    {
      header: texts.action,
      isFigure: true,
      cell: (delivery) =>
        delivery.state === 'pending' ? null : (
          <button
            type="button"
            disabled={again.isPending}
            onClick={() => again.mutate(delivery.id)}
            className="text-muted hover:text-ink"
          >
            {texts.redeliver}
          </button>
        ),
    },
  ];
  return (
    <section className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h3 className="font-strong">{texts.log}</h3>
        <FilterSelect
          label={texts.state}
          value={state}
          options={options}
          onChange={(next) => void navigate({ search: next ? { state: next } : {} })}
        />
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const deliveries = pages.flatMap((page) => page.deliveries);
          if (deliveries.length === 0)
            return (
              <div className="rounded-control border">
                <EmptyState
                  title={state ? texts.noneInState : texts.noDeliveries}
                  action={
                    state ? (
                      <Button onClick={() => void navigate({ search: {} })}>{common.nextStep.clear}</Button>
                    ) : (
                      <Button onClick={() => void testDestination(destinationId).then(() => query.refetch())}>
                        {common.nextStep.test}
                      </Button>
                    )
                  }
                >
                  {state ? null : texts.noDeliveriesBody}
                </EmptyState>
              </div>
            );
          return (
            <>
              <Table label={texts.log} columns={columns} rows={deliveries} rowKey={({ id }) => id} />
              <LoadMore query={query} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
