import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { MoreHorizontal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { keysQuery, revokeKey, rotateKey, sessionsQuery, type Key } from '../../../api/access.ts';
import { sessionQuery } from '../../../api/session.ts';
import { useNow } from '../../../lib/now.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { Badge, Loaded, Row, Rows } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { LoadMore } from '../../../ui/lists/load-more.tsx';

const KeyForm = lazy(() => import('./key-form.tsx'));
const SecretDialog = lazy(() => import('../../../ui/overlays/secret-dialog.tsx'));
const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

const texts = all.keys;
const dayS = 86_400;

type Open = { kind: 'create' } | { kind: 'rotate' | 'revoke'; key: Key } | { kind: 'secret'; secret: string };

export function KeysSection() {
  const client = useQueryClient();
  const query = useInfiniteQuery(keysQuery);
  const { data: session } = useQuery(sessionQuery);
  const { data: sessions } = useInfiniteQuery(sessionsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const [showsAll, setShowsAll] = useState(false);
  const now = useNow();
  const close = (): void => setOpen(null);
  const refresh = () => client.invalidateQueries({ queryKey: keysQuery.queryKey });
  const showSecret = (secret: string | null): void => setOpen(secret === null ? null : { kind: 'secret', secret });
  const ownKeyId = sessions?.pages.flatMap((page) => page.sessions).find(({ isCurrent }) => isCurrent)?.keyId;
  const revoke = async (key: Key): Promise<void> => {
    await revokeKey(key.id);
    toasts.add({ title: texts.revoked(key.name) });
    await refresh();
  };
  const isOver = (key: Key): boolean =>
    key.revokedAt !== null || (key.expiresAt !== null && Date.parse(key.expiresAt) <= now);
  return (
    <SettingsSection
      title={all.sections.keys}
      description={texts.description}
      action={
        <Button kind="primary" onClick={() => setOpen({ kind: 'create' })}>
          {texts.create}
        </Button>
      }
    >
      <Loaded query={query}>
        {({ pages }) => {
          const keys = pages.flatMap((page) => page.keys);
          const over = keys.filter(isOver);
          const shown = showsAll ? keys : keys.filter((key) => !isOver(key));
          return (
            <>
              <Rows label={all.sections.keys}>
                {shown.map((key) => (
                  <KeyRow key={key.id} value={key} isOver={isOver(key)} onOpen={setOpen} />
                ))}
              </Rows>
              <div className="-mt-2 flex gap-2">
                {over.length > 0 && !showsAll && (
                  <Button kind="quiet" onClick={() => setShowsAll(true)}>
                    {texts.showRevoked(over.length)}
                  </Button>
                )}
                <LoadMore query={query} />
              </div>
            </>
          );
        }}
      </Loaded>
      <Suspense>
        {open?.kind === 'create' && session && (
          <KeyForm
            granted={session.scopes}
            onClose={close}
            onCreated={({ key }) => {
              showSecret(key);
              void refresh();
            }}
          />
        )}
        {open?.kind === 'secret' && (
          <SecretDialog
            title={texts.created}
            hint={texts.createdHint}
            label={texts.secret}
            secret={open.secret}
            onClose={close}
          />
        )}
        {open?.kind === 'rotate' && (
          <ConfirmDialog
            title={texts.rotateTitle(open.key.name)}
            action={texts.rotate}
            onClose={() => setOpen((current) => (current?.kind === 'rotate' ? null : current))}
            onConfirm={async () => showSecret((await rotateKey(open.key.id, dayS)).key)}
          >
            {texts.rotateBody}
          </ConfirmDialog>
        )}
        {open?.kind === 'revoke' && (
          <ConfirmDialog
            title={texts.revokeTitle(open.key.name)}
            action={texts.revoke}
            onClose={close}
            onConfirm={() => revoke(open.key)}
          >
            {texts.revokeBody}
            {open.key.id === ownKeyId && <span className="block pt-1 text-bad">{texts.revokeOwn}</span>}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}

type KeyRowProps = { value: Key; isOver: boolean; onOpen: (open: Open) => void };

function KeyRow({ value: key, isOver, onOpen }: KeyRowProps) {
  return (
    <Row
      title={key.name}
      isDimmed={isOver}
      badge={isOver && <Badge>{key.revokedAt ? texts.isRevoked : texts.isExpired}</Badge>}
      detail={
        <>
          {texts.createdAt} <RelativeTime time={key.createdAt} />
          {key.expiresAt && (
            <>
              {` · ${texts.expires} `}
              <RelativeTime time={key.expiresAt} />
            </>
          )}
          {key.fromEnvironment && ` · ${texts.fromEnvironment}`}
        </>
      }
      actions={
        !isOver && (
          <MenuButton
            label={texts.actions(key.name)}
            align="end"
            className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
            entries={[
              {
                kind: 'action',
                label: texts.rotate,
                isDisabled: key.fromEnvironment,
                onSelect: () => onOpen({ kind: 'rotate', key }),
              },
              {
                kind: 'action',
                label: texts.revoke,
                isDanger: true,
                onSelect: () => onOpen({ kind: 'revoke', key }),
              },
            ]}
          >
            <MoreHorizontal className="size-4" aria-hidden />
          </MenuButton>
        )
      }
    >
      <details className="text-12">
        <summary className="w-fit text-muted hover:text-ink">{texts.permissions(key.scopes.length)}</summary>
        <p className="flex flex-wrap gap-1 pt-1.5">
          {key.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </p>
      </details>
    </Row>
  );
}
