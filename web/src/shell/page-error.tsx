import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { texts } from '../texts/common.ts';
import { ErrorState } from '../ui/states.tsx';

/** Stands in for the whole console when the session or a page's code could not be loaded. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="h-full">
      <h1 className="sr-only">{texts.product}</h1>
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => void router.invalidate()}
      />
    </main>
  );
}

/** An address that is no page. */
export function NotFound() {
  useEffect(() => {
    document.title = `${texts.notFound} · ${texts.product}`;
  }, []);
  return (
    <main className="flex h-full flex-col items-center justify-center gap-4 p-6">
      <h1 className="text-15 font-strong">{texts.notFound}</h1>
      <Link to="/" className="text-accent underline-offset-2 hover:underline">
        {texts.goHome}
      </Link>
    </main>
  );
}
