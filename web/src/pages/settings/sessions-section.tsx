import { useInfiniteQuery } from '@tanstack/react-query';
import { endSession, sessionsQuery, type Session } from '../../api/access.ts';
import { signOut } from '../../api/session.ts';
import { basePath } from '../../lib/base-path.ts';
import { sessionTexts as texts } from '../../texts/people.ts';
import { texts as settings } from '../../texts/settings.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Badge, Loaded, Row, Rows } from '../../ui/lists/rows.tsx';
import { SettingsSection } from './section.tsx';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { texts as common } from '../../texts/common.ts';
import { Link } from '@tanstack/react-router';

export function SessionsSection() {
  const query = useInfiniteQuery(sessionsQuery);
  const { mutate: end, isPending } = useChange({
    change: async ({ id, isCurrent }: Session) => {
      if (!isCurrent) return endSession(id);
      await signOut();
      return location.assign(`${basePath}/console/sign-in`);
    },
    refresh: [sessionsQuery.queryKey],
    done: (_, { subject }) => texts.ended(subject),
    failed: texts.notEnded,
  });
  return (
    <SettingsSection title={settings.sections.sessions} description={texts.description}>
      <Loaded query={query}>
        {({ pages }) => {
          const sessions = pages.flatMap((page) => page.sessions);
          if (sessions.length === 0)
            return (
              <EmptyState
                title={texts.none}
                action={
                  <Link to="/settings/keys" className={buttonClass('primary')}>
                    {common.nextStep.keys}
                  </Link>
                }
              >
                {texts.noneBody}
              </EmptyState>
            );
          return (
            <>
              <Rows label={settings.sections.sessions}>
                {sessions.map((session) => (
                  <Row
                    key={session.id}
                    title={session.subject}
                    badge={session.isCurrent && <Badge>{texts.current}</Badge>}
                    detail={
                      <>
                        {texts.signedIn} <RelativeTime time={session.createdAt} />
                        {` · ${texts.lastSeen} `}
                        <RelativeTime time={session.lastSeenAt} />
                        {` · ${texts.expires} `}
                        <RelativeTime time={session.expiresAt} />
                      </>
                    }
                    actions={
                      <Button disabled={isPending} onClick={() => end(session)}>
                        {session.isCurrent ? texts.endOwn : texts.end}
                      </Button>
                    }
                  />
                ))}
              </Rows>
              <LoadMore query={query} />
            </>
          );
        }}
      </Loaded>
    </SettingsSection>
  );
}
