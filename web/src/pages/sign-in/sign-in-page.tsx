import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { sessionQuery, signInMeta, singleSignOnQuery, signInWithKey, signInWithLink } from '../../api/session.ts';
import { basePath } from '../../lib/base-path.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/sign-in.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Logo } from '../../ui/logo.tsx';
import { Notice } from '../../ui/notice.tsx';

const route = getRouteApi('/sign-in');

/** Signs in with an API key, or with the token after `#` of a link that the service printed. */
export function SignInPage() {
  const { next } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const enter = async (): Promise<void> => {
    client.clear();
    await client.ensureQueryData(sessionQuery);
    router.history.replace(basePath + (next ?? '/console/'));
  };
  const withKey = useMutation({
    mutationFn: signInWithKey,
    meta: signInMeta,
    onSuccess: enter,
    onError: () => field.current?.select(),
  });
  const withLink = useMutation({ mutationFn: signInWithLink, meta: signInMeta, onSuccess: enter });
  const { mutate: useLink } = withLink;
  useEffect(() => {
    document.title = `${texts.title} · ${common.product}`;
    const token = location.hash.slice(1);
    if (token === '') return;
    // The token leaves the address bar and the history before anything else happens.
    history.replaceState(null, '', location.pathname);
    useLink(token);
  }, [useLink]);
  const hasSingleSignOn = Boolean(useQuery(singleSignOnQuery).data?.url);
  const error = withKey.error ?? withLink.error;
  const isBusy = withKey.isPending || withLink.isPending;
  return (
    <main className="flex h-full items-center justify-center p-6">
      <div className="flex w-full max-w-80 flex-col gap-4">
        <h1 className="flex items-center gap-2.5 text-20 font-strong">
          <Logo className="size-6" />
          {common.product}
        </h1>
        <SingleSignOn />
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            withKey.mutate(field.current!.value.trim());
          }}
        >
          <label className="flex flex-col gap-1.5">
            <span className="text-muted">{texts.keyLabel}</span>
            <input
              ref={field}
              type="password"
              required
              autoFocus={!hasSingleSignOn}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={error !== null}
              aria-describedby="sign-in-hint"
              className="h-9 rounded-control border border-line-strong bg-surface px-3 font-mono text-13"
            />
          </label>
          <p id="sign-in-hint" role={error ? 'alert' : undefined} className={error ? 'text-bad' : 'text-12 text-muted'}>
            {error ? error.message : texts.keyHint}
          </p>
          <Button kind={hasSingleSignOn ? 'secondary' : 'primary'} type="submit" disabled={isBusy} className="h-9">
            {isBusy ? texts.working : texts.submit}
          </Button>
          <details className="text-12 text-muted">
            <summary className="w-fit cursor-pointer hover:text-ink">{texts.noKey}</summary>
            <p className="pt-2">{texts.noKeyHint}</p>
            <code className="mt-2 block rounded-control border bg-surface p-2 font-mono break-words select-all">
              {texts.command}
            </code>
          </details>
        </form>
      </div>
    </main>
  );
}

/** The way to the identity provider, and why the last attempt failed. Nothing if single sign-on is not configured. */
function SingleSignOn() {
  const { next, problem, request } = route.useSearch();
  const { data } = useQuery(singleSignOnQuery);
  if (!data?.url) return null;
  return (
    <section aria-label={texts.singleSignOn} className="flex flex-col gap-4">
      {problem && (
        <div role="alert">
          <Notice kind="error" title={texts.problems[problem]}>
            {request && <span className="text-12 select-all">{texts.requestId(request)}</span>}
          </Notice>
        </div>
      )}
      <ButtonLink
        kind="primary"
        className="h-9"
        href={next ? `${data.url}?${new URLSearchParams({ next })}` : data.url}
      >
        {texts.singleSignOn}
      </ButtonLink>
      <p className="flex items-center gap-3 text-12 text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {texts.or}
      </p>
    </section>
  );
}
