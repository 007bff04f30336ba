import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { singleSignOnQuery } from '../../api/session.ts';
import { texts } from '../../texts/sign-in.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';

const route = getRouteApi('/sign-in');

/** The way to the identity provider, and why the last attempt failed. Nothing if single sign-on is not configured. */
export function SingleSignOn() {
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
