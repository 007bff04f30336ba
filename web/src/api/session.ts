import { queryOptions } from '@tanstack/react-query';
import { api, read } from './client.ts';

/** The current session. Fails with status 401 if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => read(api.GET('/api/session')),
  staleTime: 60_000,
  retry: false,
});

/** Where single sign-on starts, or null. The sign-in page works without an answer as well. */
export const singleSignOnQuery = queryOptions({
  queryKey: ['single-sign-on'],
  queryFn: () => read(api.GET('/api/session/single-sign-on')).catch(() => ({ url: null })),
  staleTime: Infinity,
});

/** Marks the sign-in itself, whose refusal does not mean that a session has ended. */
export const signInMeta = { isSignIn: true };
export const signInWithKey = (key: string) => read(api.POST('/api/session', { body: { key } }));
export const signInWithLink = (token: string) => read(api.POST('/api/session/link', { body: { token } }));
export const signOut = () => read(api.DELETE('/api/session'));
