import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { destinationKindsQuery, destinationsQuery, type Destination } from '../../../api/destinations.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { Badge, Loaded, Row, Rows } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';

const DestinationForm = lazy(() => import('./destination-form.tsx'));
const SecretDialog = lazy(() => import('../../../ui/overlays/secret-dialog.tsx'));

const texts = all.destinations;

export function DestinationsSection() {
  const client = useQueryClient();
  const query = useQuery(destinationsQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const add = (
    <Button kind="primary" onClick={() => setIsAdding(true)}>
      {texts.add}
    </Button>
  );
  const isEmpty = query.data?.destinations.length === 0;
  return (
    <SettingsSection
      title={all.sections.destinations}
      description={texts.description}
      action={isEmpty ? undefined : add}
    >
      <Loaded query={query}>
        {({ destinations }) =>
          destinations.length === 0 ? (
            <div className="rounded-control border">
              <EmptyState title={texts.none} action={add}>
                {texts.noneBody}
              </EmptyState>
            </div>
          ) : (
            <Rows label={all.sections.destinations}>
              {destinations.map((destination) => (
                <DestinationRow key={destination.id} destination={destination} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Suspense>
        {isAdding && (
          <DestinationForm
            onClose={() => setIsAdding(false)}
            onSaved={(created) => {
              setIsAdding(false);
              setSecret(created.secret ?? null);
              void client.invalidateQueries({ queryKey: destinationsQuery.queryKey });
            }}
          />
        )}
        {secret !== null && (
          <SecretDialog
            title={texts.created}
            hint={texts.createdHint}
            label={texts.secret}
            secret={secret}
            onClose={() => setSecret(null)}
          />
        )}
      </Suspense>
    </SettingsSection>
  );
}

function DestinationRow({ destination }: { destination: Destination }) {
  const { id, name, kind, url, eventTypes, enabled, disabledReason } = destination;
  const definition = useQuery(destinationKindsQuery).data?.find((one) => one.kind === kind);
  return (
    <Row
      title={
        <Link to="/settings/destinations/$id" params={{ id }} className="hover:underline">
          {name}
        </Link>
      }
      badge={!enabled && <Badge isBad={disabledReason !== null}>{texts.disabled}</Badge>}
      detail={disabledReason ?? `${definition?.label ?? kind} · ${url} · ${texts.eventCount(eventTypes.length)}`}
      actions={
        <Link to="/settings/destinations/$id" params={{ id }} aria-label={name} tabIndex={-1} className="text-faint">
          <ChevronRight className="size-4" aria-hidden />
        </Link>
      }
    />
  );
}
