import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { MoreHorizontal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { changePerson, invitePerson, personsQuery, renewPersonLink, type Person, type Role } from '../../api/access.ts';
import { basePath } from '../../lib/base-path.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/people.ts';
import { texts as settings } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { findFieldError, FormError, SelectField, TextField } from '../../ui/forms/field.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { Badge, Loaded, Row, Rows } from '../../ui/lists/rows.tsx';
import { Dialog, DialogActions } from '../../ui/overlays/dialog.tsx';
import { MenuButton } from '../../ui/overlays/menu-button.tsx';
import type { MenuEntry } from '../../ui/overlays/menu-popup.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { SettingsSection } from './section.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const SecretDialog = lazy(() => import('../../ui/overlays/secret-dialog.tsx'));
const ConfirmDialog = lazy(() => import('../../ui/overlays/confirm-dialog.tsx'));

const roles = Object.entries(texts.roles).map(([value, label]) => ({ value: value as Role, label }));
/** The name of a role without what it includes. */
const roleName = (role: Role): string => texts.roles[role].split(':')[0]!;

type Open = { kind: 'invite' } | { kind: 'link'; link: string } | { kind: 'disable'; person: Person };

/** The people of the organization, with their roles and links. */
export function PeopleSection() {
  const client = useQueryClient();
  const query = useInfiniteQuery(personsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const refresh = () => client.invalidateQueries({ queryKey: personsQuery.queryKey });
  const showLink = ({ link }: { link: string }): void => {
    setOpen({ kind: 'link', link: link.startsWith('/') ? `${location.origin}${basePath}${link}` : link });
    void refresh();
  };
  const { mutate: change } = useChange({
    change: ({ id, ...body }: { id: string; role?: Role; disabled?: boolean }) => changePerson(id, body),
    refresh: [personsQuery.queryKey],
    done: ({ name }) => texts.changed(name),
    failed: texts.notChanged,
  });
  const { mutate: renew } = useChange({
    change: async (id: string) => showLink(await renewPersonLink(id)),
    refresh: [],
    failed: texts.notChanged,
  });
  const entriesOf = (person: Person): MenuEntry[] => [
    ...(person.issuer === null
      ? [
          {
            kind: 'choice' as const,
            value: person.role ?? '',
            options: roles,
            onSelect: (role: string) => change({ id: person.id, role: role as Role }),
          },
          {
            kind: 'action' as const,
            label: texts.newLink,
            isDisabled: person.disabled,
            onSelect: () => renew(person.id),
          },
        ]
      : []),
    person.disabled
      ? { kind: 'action', label: texts.enable, onSelect: () => change({ id: person.id, disabled: false }) }
      : { kind: 'action', label: texts.disable, isDanger: true, onSelect: () => setOpen({ kind: 'disable', person }) },
  ];
  const invite = (
    <Button kind="primary" onClick={() => setOpen({ kind: 'invite' })}>
      {texts.invite}
    </Button>
  );
  return (
    <SettingsSection
      title={settings.sections.people}
      description={texts.description}
      action={query.data?.pages[0]?.persons.length === 0 ? undefined : invite}
    >
      <Loaded query={query}>
        {({ pages }) => {
          const persons = pages.flatMap((page) => page.persons);
          if (persons.length === 0)
            return (
              <EmptyState title={texts.none} action={invite}>
                {texts.noneBody}
              </EmptyState>
            );
          return (
            <>
              <Rows label={settings.sections.people}>
                {persons.map((person) => (
                  <Row
                    key={person.id}
                    title={person.name}
                    isDimmed={person.disabled}
                    badge={<Badge>{person.disabled ? texts.disabled : roleOf(person)}</Badge>}
                    detail={<PersonDetail person={person} />}
                    actions={
                      <MenuButton
                        label={texts.actions(person.name)}
                        align="end"
                        className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
                        entries={entriesOf(person)}
                      >
                        <MoreHorizontal className="size-4" aria-hidden />
                      </MenuButton>
                    }
                  />
                ))}
              </Rows>
              <LoadMore query={query} />
            </>
          );
        }}
      </Loaded>
      <Suspense>
        {open?.kind === 'invite' && <InviteForm onClose={close} onInvited={showLink} />}
        {open?.kind === 'link' && (
          <SecretDialog
            title={texts.linkTitle}
            hint={texts.linkHint}
            label={texts.link}
            secret={open.link}
            onClose={close}
          />
        )}
        {open?.kind === 'disable' && (
          <ConfirmDialog
            title={texts.disableTitle(open.person.name)}
            action={texts.disable}
            onClose={close}
            onConfirm={async () => {
              await changePerson(open.person.id, { disabled: true });
              await refresh();
            }}
          >
            {texts.disableBody}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}

const roleOf = ({ role }: Person): string => (role === null ? texts.byGroups : roleName(role));

function PersonDetail({ person: { issuer, signedInAt, invitedUntil } }: { person: Person }) {
  return (
    <>
      {`${issuer === null ? texts.invited : texts.provided} · `}
      {signedInAt === null ? (
        texts.never
      ) : (
        <>
          {texts.signedIn} <RelativeTime time={signedInAt} />
        </>
      )}
      {invitedUntil !== null && (
        <>
          {` · ${texts.linkUntil} `}
          <RelativeTime time={invitedUntil} />
        </>
      )}
    </>
  );
}

type InviteProps = { onClose: () => void; onInvited: (invited: { link: string }) => void };

function InviteForm({ onClose, onInvited }: InviteProps) {
  const [{ name, role }, setValues, draft] = useDraft('invitation', { name: '', role: 'analyst' as Role });
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => invitePerson(name.trim(), role),
    onSuccess: (invited) => {
      draft.reset();
      onInvited(invited);
    },
  });
  return (
    <Dialog title={texts.inviteTitle} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          error={findFieldError(error, '/name')}
          value={name}
          required
          autoFocus
          onChange={(event) => setValues({ name: event.target.value })}
        />
        <SelectField
          label={texts.role}
          options={roles}
          value={role}
          onChange={(event) => setValues({ role: event.target.value as Role })}
        />
        <FormError error={error} shown={['/name']} />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" disabled={isPending}>
            {texts.invite}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
