import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, MoreHorizontal } from 'lucide-react';
import { lazy, Suspense, useState, type Dispatch, type SetStateAction } from 'react';
import {
  deleteDestination,
  destinationKindsQuery,
  destinationQuery,
  destinationsQuery,
  rotateDestination,
  changeDestination,
  testDestination,
  type Destination,
} from '../../../api/destinations.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Badge, Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { DeliveryLog } from './delivery-log.tsx';

const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));
const DestinationForm = lazy(() => import('./destination-form.tsx'));
const SecretDialog = lazy(() => import('../../../ui/overlays/secret-dialog.tsx'));

const route = getRouteApi('/shell/settings/destinations/$id');
const texts = all.destinations;

/** One destination with its delivery log. */
export function DestinationSection() {
  const { id } = route.useParams();
  const query = useQuery(destinationQuery(id));
  return (
    <>
      <Link to="/settings/destinations" className="-mb-4 flex w-fit items-center gap-1 text-muted hover:text-ink">
        <ChevronLeft className="size-3.5" aria-hidden />
        {texts.back}
      </Link>
      <Loaded query={query}>{(destination) => <Destination destination={destination} />}</Loaded>
    </>
  );
}

/** The open dialog. One shows a new secret. */
type OpenDialog = 'edit' | 'rotate' | 'delete' | { secret: string } | null;

function Destination({ destination }: { destination: Destination }) {
  const { id, name, kind, url, eventTypes, minSeverity, tags, entityLists, hours, enabled, disabledReason } =
    destination;
  const [open, setOpen] = useState<OpenDialog>(null);
  const definition = useQuery(destinationKindsQuery).data?.find((one) => one.kind === kind);
  return (
    <SettingsSection
      title={name}
      description={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="break-all">{`${definition?.label ?? kind} · ${url}`}</span>
          {minSeverity && <Badge>{texts.from(minSeverity)}</Badge>}
          {[...(tags ?? []), ...(entityLists ?? [])].map((name) => (
            <Badge key={name}>{name}</Badge>
          ))}
          {hours && <Badge>{`${texts.during(hours.from, hours.to)} ${hours.timeZone}`}</Badge>}
          {!enabled && <Badge isBad={disabledReason !== null}>{disabledReason ?? texts.disabled}</Badge>}
        </span>
      }
      action={
        <DestinationActions
          destination={destination}
          isSigned={definition?.isSigned ?? false}
          onEdit={() => setOpen('edit')}
          onRotate={() => setOpen('rotate')}
          onDelete={() => setOpen('delete')}
        />
      }
    >
      {destination.ticketsError && (
        <Notice kind="error" title={texts.ticketsFailed}>
          {destination.ticketsError}
        </Notice>
      )}
      <p className="flex flex-wrap gap-1" aria-label={texts.events}>
        {eventTypes.map((type) => (
          <Badge key={type}>{type}</Badge>
        ))}
      </p>
      <DeliveryLog destinationId={id} />
      <DestinationDialogs destination={destination} open={open} onOpen={setOpen} />
    </SettingsSection>
  );
}

type ActionsProps = { destination: Destination; isSigned: boolean } & Record<
  'onEdit' | 'onRotate' | 'onDelete',
  () => void
>;

function DestinationActions({ destination, isSigned, onEdit, onRotate, onDelete }: ActionsProps) {
  const { id, name, enabled } = destination;
  const test = useChange({
    change: () => testDestination(id),
    refresh: [['destinations']],
    done: ({ state, lastError, lastStatus }) => ({
      title: texts.tested(state === 'delivered'),
      ...(state !== 'delivered' && { description: lastError ?? String(lastStatus), isError: true }),
    }),
    failed: texts.testFailed,
  });
  const turn = useChange({
    change: () => changeDestination(destination, { enabled: !enabled }),
    refresh: [['destinations']],
    done: () => texts.changed,
    failed: texts.notChanged,
  });
  return (
    <div className="flex items-center gap-2">
      <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
        {texts.test}
      </Button>
      <Button onClick={onEdit}>{texts.edit}</Button>
      <MenuButton
        label={texts.actions(name)}
        align="end"
        className="flex size-7 items-center justify-center rounded-control border text-muted hover:bg-hover hover:text-ink"
        entries={[
          {
            kind: 'action',
            label: enabled ? texts.turnOff : texts.turnOn,
            onSelect: () => turn.mutate(undefined),
          },
          {
            kind: 'action',
            label: texts.rotate,
            isDisabled: !isSigned,
            onSelect: onRotate,
          },
          { kind: 'action', label: texts.remove, isDanger: true, onSelect: onDelete },
        ]}
      >
        <MoreHorizontal className="size-4" aria-hidden />
      </MenuButton>
    </div>
  );
}

type DialogsProps = { destination: Destination; open: OpenDialog; onOpen: Dispatch<SetStateAction<OpenDialog>> };

function DestinationDialogs({ destination, open, onOpen }: DialogsProps) {
  const { id, name } = destination;
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const close = (): void => onOpen((current) => (typeof current === 'object' ? current : null));
  const remove = async (): Promise<void> => {
    await deleteDestination(id);
    await client.invalidateQueries({ queryKey: destinationsQuery.queryKey });
    toasts.add({ title: texts.changed });
    void navigate({ to: '/settings/destinations' });
  };
  return (
    <Suspense>
      {open === 'edit' && (
        <DestinationForm
          destination={destination}
          onClose={close}
          onSaved={() => {
            close();
            toasts.add({ title: texts.changed });
            void client.invalidateQueries({ queryKey: ['destinations'] });
          }}
        />
      )}
      {open === 'rotate' && (
        <ConfirmDialog
          title={texts.rotateTitle(name)}
          action={texts.rotate}
          onClose={close}
          onConfirm={async () => {
            const { secret } = await rotateDestination(id);
            if (secret !== null) onOpen({ secret });
          }}
        >
          {texts.rotateBody}
        </ConfirmDialog>
      )}
      {open === 'delete' && (
        <ConfirmDialog title={texts.removeTitle(name)} action={texts.remove} onClose={close} onConfirm={remove}>
          {texts.removeBody}
        </ConfirmDialog>
      )}
      {typeof open === 'object' && open !== null && (
        <SecretDialog
          title={texts.created}
          hint={texts.createdHint}
          label={texts.secret}
          secret={open.secret}
          onClose={() => onOpen(null)}
        />
      )}
    </Suspense>
  );
}
