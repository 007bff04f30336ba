import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { personsQuery } from '../../api/access.ts';
import { changeIncident, watchIncident, type IncidentDetail, type IncidentResolution } from '../../api/incidents.ts';
import { sessionQuery } from '../../api/session.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { texts } from '../../texts/incidents.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Key } from '../../ui/key.tsx';
import { severities, SeverityLabel } from '../../ui/labels/severity.tsx';
import { MenuButton } from '../../ui/overlays/menu-button.tsx';

const ofHits = 'hits';
const severityOptions = [
  { value: ofHits, label: texts.ofHits },
  ...severities.map((value) => ({ value, label: <SeverityLabel severity={value} /> })),
];
const resolutions = Object.keys(texts.resolutions) as IncidentResolution[];

/** What people do with an incident: take it, work on it, close it and open it again. Every action can be undone. */
export function IncidentActions({ incident }: { incident: IncidentDetail }) {
  const { data: session } = useQuery(sessionQuery);
  const me = session?.subject ?? null;
  const { data: persons } = useInfiniteQuery(personsQuery);
  const assignable = persons?.pages.flatMap((page) => page.persons).filter(({ disabled }) => !disabled) ?? [];
  const { mutate, isPending } = useChange({
    change: (changes: Parameters<typeof changeIncident>[1]) => changeIncident(incident, changes),
    refresh: [['incidents'], ['hits']],
    done: () => texts.changed,
    failed: texts.failed,
  });
  const myId = session?.personId ?? null;
  const isWatching = incident.watchers.some(({ personId }) => personId === myId);
  const watch = useChange({
    change: () => watchIncident(incident.id, !isWatching),
    refresh: [['incidents']],
    failed: texts.failed,
  });
  const isClosed = incident.state === 'closed';
  const close = (resolution: IncidentResolution): void => mutate({ state: 'closed', resolution });
  const take = (): void => {
    if (me !== null && incident.owner !== me) mutate({ owner: me });
  };
  useHotkeys({
    m: take,
    ...Object.fromEntries(resolutions.map((one, at) => [String(at + 1), () => !isClosed && close(one)])),
  });
  return (
    <div className="flex flex-wrap items-center gap-1" role="group" aria-label={texts.one}>
      {me !== null && incident.owner !== me && (
        <Button disabled={isPending} onClick={take} aria-keyshortcuts="m">
          {texts.take}
          <Key>m</Key>
        </Button>
      )}
      {assignable.length > 0 && (
        <MenuButton
          entries={[
            {
              kind: 'choice',
              value: incident.ownerId ?? '',
              options: assignable.map(({ id, name }) => ({ value: id, label: name })),
              onSelect: (id) => mutate({ owner: assignable.find((person) => person.id === id)?.name ?? null }),
            },
          ]}
          className={buttonClass('secondary')}
        >
          {texts.assign}
          <ChevronDown className="size-3.5 text-faint" aria-hidden />
        </MenuButton>
      )}
      {me !== null && incident.owner === me && (
        <Button disabled={isPending} onClick={() => mutate({ owner: null })}>
          {texts.release}
        </Button>
      )}
      {myId !== null && (
        <Button disabled={watch.isPending} onClick={() => watch.mutate(undefined)}>
          {isWatching ? texts.unwatch : texts.watch}
        </Button>
      )}
      {incident.state === 'open' && (
        <Button disabled={isPending} onClick={() => mutate({ state: 'in_progress' })}>
          {texts.start}
        </Button>
      )}
      <MenuButton
        entries={[
          {
            kind: 'choice',
            value: incident.severitySet ? incident.severity : ofHits,
            options: severityOptions,
            onSelect: (value) => mutate({ severity: severities.find((severity) => severity === value) ?? null }),
          },
        ]}
        className={buttonClass('secondary')}
      >
        {texts.filters.severity}
        <ChevronDown className="size-3.5 text-faint" aria-hidden />
      </MenuButton>
      {isClosed ? (
        <Button disabled={isPending} onClick={() => mutate({ state: 'open' })}>
          {texts.reopen}
        </Button>
      ) : (
        <>
          <span className="pl-2 text-12 text-muted">{texts.close}</span>
          {resolutions.map((resolution, index) => (
            <Button
              key={resolution}
              disabled={isPending}
              onClick={() => close(resolution)}
              aria-keyshortcuts={String(index + 1)}
            >
              {texts.resolutions[resolution]}
              <span className="max-md:hidden">
                <Key>{index + 1}</Key>
              </span>
            </Button>
          ))}
        </>
      )}
    </div>
  );
}
