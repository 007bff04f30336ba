const payload = String.raw`(?:payloads?|malware|scripts?|files?|stages?|tools?|dlls?|executables?|binar(?:y|ies)|implants?|backdoors?|loaders?|modules?|components?|archives?|installers?|shellcode|trojans?|stealers?|ransomware|programs?)`;
const opener = String.raw`(?:victims?|users?|recipients?|targets?|employees?|someone|they|person)`;
const lure = String.raw`(?:attachments?|documents?|files?|macros?|archives?|installers?|lnk|shortcuts?|executables?|content|apps?|applications?|pdfs?|spreadsheets?|scripts?)`;

/**
 * Plain statements of techniques: the id, the words of which one must occur in the sentence, the pattern of the statement, and a pattern that
 * must occur in the sentence or the one before it, if any.
 */
export type StatementRow = [technique: string, triggers: string, pattern: RegExp, context?: RegExp];

/** Statements of techniques up to defense evasion. Sorted by tactic. */
export const earlyStatements: StatementRow[] = [
  // Reconnaissance and initial access
  [
    'T1595',
    'scan scans scanning scanned',
    /\bscan(?:s|ned|ning)? (?:[\w-]+ ){0,3}(?:the )?internet\b|\binternet-wide scan/i,
  ],
  [
    'T1583.001',
    'domain domains look-alike lookalike',
    /\b(?:attackers?|actors?|group|hackers?|operators?|criminals|they|campaign)\b[^.!?]{0,40}\bregister(?:ed|s|ing)?\b[^.!?]{0,40}\bdomains?\b|\b(?:look-?alike|typosquatted|spoofed) domains? (?:was|were|registered)/i,
  ],
  [
    'T1656',
    'posed posing pose impersonate impersonated impersonates impersonating',
    /\b(?:pos(?:e|es|ed|ing) as|impersonat\w+)\b[^.!?]{0,40}\b(?:help ?desk|it (?:staff|support|department|personnel|teams?)|tech(?:nical)? support|recruiters?|employees?|journalists?|executives?|government officials?)\b/i,
  ],
  [
    'T1566.001',
    'phishing spearphishing spear-phishing malspam email emails e-mail e-mails mail',
    new RegExp(
      String.raw`\b(?:(?:spear[- ]?)?phish(?:ing)?|malspam|malicious e-?mails?|lure e-?mails?|e-?mails?)\b[^.!?]{0,90}\b(?:attach(?:ment|ments|ed|ing)|zip|rar|iso|lnk|word documents?|excel|spreadsheets?|malicious (?:documents?|pdfs?|archives?|files?))\b|\b(?:attachments?|spreadsheets?|documents?)\b[^.!?]{0,40}\b(?:attached to|via|by|through|in) (?:[\w-]+ ){0,3}(?:malspam|phishing|spear-?phishing|e-?mails?)\b`,
      'i',
    ),
  ],
  [
    'T1566.002',
    'phishing spearphishing spear-phishing malspam email emails e-mails messages smishing',
    /\b(?:(?:spear[- ]?)?phishing|malspam|smishing|e-?mails?|text messages?)\b[^.!?]{0,60}\b(?:links?|urls?|pages?|sites?|websites?)\b|\b(?:links?|urls?)\b[^.!?]{0,50}\b(?:in|from|via|through) (?:[\w-]+ ){0,3}(?:phishing|e-?mails?)/i,
  ],
  ['T1566.004', 'vishing voice', /\bvishing\b|\bvoice[- ]phishing\b/i],
  [
    'T1566',
    'phishing spearphishing spear-phishing malspam smishing',
    /\b(?:spear[- ]?)?phishing(?! kit|-as-a)\b|\bmalspam\b|\bsmishing\b/i,
  ],
  [
    'T1189',
    'drive-by watering malvertising malvertisements',
    /\bdrive[- ]by (?:download|compromise)|\bwatering[- ]hole\b|\bmalvertis/i,
  ],
  [
    'T1195.001',
    'maintainers package packages npm pypi maintainer dependency dependencies',
    /\b(?:npm|pypi|nuget|rubygems|open[- ]source|malicious|compromised|backdoored|poisoned|hijacked)\b[^.!?]{0,50}\b(?:packages?|dependenc(?:y|ies))\b[^.!?]{0,90}\b(?:hijack|compromis|backdoor|malicious|inject|infect|poison|trojan|steal)|\bmaintainers?\b[^.!?]{0,60}\b(?:compromis|hijack|phish)|\b(?:hijack|compromis|phish|took over|tak(?:e|en|ing) over)\w*\b[^.!?]{0,40}\bmaintainers?\b|\bmalicious (?:(?:npm|pypi|nuget|python|rubygems|open[- ]source) )?packages?\b[^.!?]{0,60}\b(?:st(?:eal|ole)|collect|exfiltrat|harvest|download|install|deliver|drop|uploaded|published)/i,
  ],
  [
    'T1195.002',
    'trojanized trojanised backdoored compromised poisoned tampered weaponized weaponised',
    /\b(?:trojani[sz]ed|backdoored|compromised|poisoned|tampered|weaponi[sz]ed)\b[^.!?]{0,50}\b(?:installers?|updates?|update mechanism|builds?|releases?|distribution channel|software supply)\b/i,
  ],
  ['T1195', 'supply supply-chain', /\bsupply[- ]chain (?:attacks?|compromises?|intrusions?|incidents?|campaigns?)\b/i],
  [
    'T1133',
    'vpn vpns rdp citrix gateway',
    /\b(?:log(?:ged|ging|s)?[- ]?(?:in|on|ins)?|login attempts?|logins?|authenticat\w+|initial access|gain(?:ed|ing|s)? access|entry)\b[^.!?]{0,60}\b(?:through|via|to|using|over|into|from)\b[^.!?]{0,40}\b(?:vpns?|ssl ?vpns?|exposed rdp|remote desktop|citrix)\b|\b(?:exposed|internet-facing|publicly accessible) (?:rdp|vpn|remote desktop|ssh)\b/i,
  ],
  [
    'T1078',
    'stolen compromised valid leaked harvested purchased legitimate reused hijacked default',
    /\b(?:stolen|compromised|valid|leaked|harvested|purchased|previously stolen|legitimate|reused|hijacked|default)(?: [\w-]+){0,2} (?:credentials?|accounts?|passwords?|logins?)\b[^.!?]{0,60}\b(?:us(?:e|ed|ing)|log|access|authenticat|sign|remain|enter|connect|gain)|\b(?:us(?:e|es|ed|ing)|with|via|through|leverag\w+|abus\w+)\b[^.!?]{0,25}\b(?:stolen|compromised|valid|leaked|harvested|purchased|legitimate|default)(?: [\w-]+){0,2} (?:credentials?|accounts?|passwords?|logins?)\b/i,
  ],
  [
    'T1091',
    'usb removable thumb',
    /\b(?:usb|removable|thumb)[- ]?(?:[\w-]+ )?(?:drives?|media|sticks?|devices?|flash)\b[^.!?]{0,90}\b(?:spread|propagat|infect|cop(?:y|ies)|replicat|worm|hidden)|\b(?:spread|propagat|infect|replicat|cop(?:y|ies))\w*\b[^.!?]{0,90}\b(?:usb|removable|thumb)[- ]?(?:[\w-]+ )?(?:drives?|media|sticks?|devices?|flash)/i,
  ],
  // Execution
  [
    'T1204.004',
    'clickfix filefix captcha paste pasting clipboard',
    /\b(?:clickfix|filefix)\b|\bpast(?:e|es|ed|ing)\b[^.!?]{0,60}\b(?:commands?|powershell|run dialog|terminal)\b|\bfake captcha/i,
  ],
  [
    'T1204.002',
    'open opens opened opening execute executes executed executing run runs running click clicks clicked clicking launch launches launched enable enables enabled enabling macro macros lured tricked tricks trick',
    new RegExp(
      String.raw`\b${opener}\b[^.!?]{0,50}\b(?:open(?:s|ed|ing)?|execut(?:e|es|ed|ing)|run(?:s|ning)?|launch(?:es|ed)?|double-click\w*|click(?:s|ed|ing)?|enabl(?:e|es|ed|ing)|download(?:s|ed)? and (?:run|open|execut)\w*)\b[^.!?]{0,40}\b${lure}\b|\b(?:once|when|upon|after|if|by) (?:[\w-]+ ){0,4}(?:open(?:s|ed|ing)?|double-click\w*|clicked|enabl(?:ed|ing|e))\b[^.!?]{0,40}\b${lure}\b|\b(?:lur|trick|persuad|convinc|entic|dup)\w+\b[^.!?]{0,40}\binto (?:open|run|execut|download|install|launch)ing\b|\benabl(?:e|es|ed|ing) (?:the )?(?:malicious )?(?:macros?|content)\b|\b(?:excel|word|office|spreadsheet|document|documents|xls\w?|docm?|worksheet)\b[^.!?]{0,50}\bmacros?\b|\bmacro(?:s|-laced| code)\b[^.!?]{0,60}\bdownload`,
      'i',
    ),
  ],
  [
    'T1204.001',
    'click clicks clicked clicking',
    /\b(?:click(?:s|ed|ing)?)\b[^.!?]{0,30}\b(?:links?|urls?|buttons?)\b|\b(?:links?|urls?|connection) (?:is|are|was) clicked\b/i,
  ],
  [
    'T1059.001',
    'powershell',
    /\bpowershell(?:\.exe)?\b[^.!?]{0,60}\b(?:scripts?|commands?|payloads?|code|loaders?|stagers?|execut\w+|run|download\w*|one-liner|cmdlets?|invoke|launch\w*)\b|\b(?:us(?:e|es|ed|ing)|via|execut\w+|run(?:s|ning)?|launch\w*|starts?|started|invok\w+|through|spawn\w*|obfuscated|encoded|malicious)\b[^.!?]{0,40}\bpowershell\b/i,
  ],
  [
    'T1059.003',
    'batch cmd cmd.exe',
    /\bbatch (?:scripts?|files?)\b|\b(?:via|using|execut\w+|spawn\w*|launch\w*|run\w*|through|invok\w+)\b[^.!?]{0,30}\bcmd(?:\.exe)?\b|\bcmd\.exe\b[^.!?]{0,40}\b(?:execut|run|spawn|launch)/i,
  ],
  [
    'T1059.004',
    'bash shell',
    /\b(?:bash|unix|linux) (?:shell )?(?:scripts?|commands?)\b|\bshell scripts?\b[^.!?]{0,60}\b(?:download|execut|install|run|deploy)/i,
  ],
  [
    'T1059.005',
    'vbs vbscript vba macro macros',
    /\b(?:vbscript|vba|vbs|visual basic)\b[^.!?]{0,40}\b(?:scripts?|macros?|code|files?|execut|download|run|payload)|\b(?:excel 4\.0|malicious|embedded|auto-?open|document|office|word|excel) macros?\b|\bmacro code\b/i,
  ],
  [
    'T1059.007',
    'javascript jscript',
    /\b(?:malicious|obfuscated|embedded|heavily|execut\w+|run\w*) (?:[\w-]+ )?(?:javascript|jscript)\b|\b(?:javascript|jscript) (?:files?|code|downloader|payload|loader|dropper)\b/i,
  ],
  [
    'T1047',
    'wmi wmic management',
    /\b(?:via|us(?:e|es|ed|ing)|through|execut\w+|leverag\w+|run\w*|remotely)\b[^.!?]{0,40}\b(?:wmi|wmic|windows management instrumentation)\b/i,
  ],
  ['T1569.002', 'psexec', /\bpsexec\b/i],
  [
    'T1203',
    'exploit exploits exploited exploiting exploitation',
    /\b(?:exploit(?:s|ed|ing|ation of)?)\b[^.!?]{0,70}\b(?:microsoft office|equation editor|word|excel|outlook|adobe (?:reader|acrobat|flash)|flash player|internet explorer|chrome|firefox|safari|webkit|winrar|7-zip|mshtml|browser)\b[^.!?]{0,40}\b(?:vulnerabilit\w+|flaws?|cve|bugs?|zero-?days?)|\b(?:microsoft office|equation editor|adobe (?:reader|flash)|internet explorer|chrome|winrar|7-zip|mshtml)\b[^.!?]{0,30}\b(?:vulnerabilit\w+|flaws?|zero-?days?|CVE-\d{4}-\d+)[^.!?]{0,60}\bexploit/i,
  ],
  [
    'T1610',
    'container containers',
    /\b(?:creat|deploy|launch|spin|spawn)\w*\b[^.!?]{0,40}\b(?:malicious|new|privileged|rogue)\b[^.!?]{0,20}\bcontainers?\b/i,
  ],
  // Persistence and privilege escalation
  ['T1053.005', 'task tasks schtasks', /\bscheduled[- ]tasks?\b|\bschtasks\b|\btask scheduler\b/i],
  ['T1053.003', 'cron crontab cronjob', /\bcron(?:tab| ?jobs?)\b|\bcron\b[^.!?]{0,40}\b(?:persist|execut|job|entry)/i],
  [
    'T1547.001',
    'startup autorun runonce currentversion key keys registry',
    /\b(?:run|runonce|autorun)(?: registry)? keys?\b|\bregistry run\b|\bcurrentversion\\run|\bstart-?up (?:folder|directory|programs)\b/i,
  ],
  [
    'T1543.003',
    'service services',
    /\b(?:creat|install|register)\w*\b[^.!?]{0,30}\b(?:windows|new|malicious|system|persistent) services?\b|\b(?:as|via) an? (?:new |windows |malicious )+service\b/i,
  ],
  ['T1543.002', 'systemd', /\bsystemd (?:services?|units?|timers?)\b/i],
  ['T1543.001', 'launchagent launchagents agent agents', /\blaunch ?agents?\b/i],
  ['T1505.003', 'webshell webshells web-shell web-shells shell shells', /\bweb[- ]?shells?\b/i],
  ['T1505.004', 'iis', /\biis (?:modules?|components?|backdoors?)\b/i],
  [
    'T1136',
    'account accounts user users',
    /\b(?:creat(?:e|es|ed|ing|ion of)|add(?:s|ed|ing)?)\b[^.!?]{0,25}\b(?:new|local|admin(?:istrator)?|domain|user|backdoor|rogue|privileged|hidden)\b[^.!?]{0,20}\b(?:accounts?|users?)\b|\b(?:new|local|admin(?:istrator)?|domain|backdoor|rogue|hidden) accounts? (?:was|were|is|are|has been|have been) (?:created|added)/i,
  ],
  [
    'T1098.004',
    'ssh authorized_keys',
    /\bssh (?:public |authorized )?keys?\b[^.!?]{0,60}\b(?:add|writ|append|inject|persist|controlled|plant|install)|\b(?:add|writ|append|inject|plant|install|controlled)\w*\b[^.!?]{0,40}\bssh (?:public |authorized )?keys?\b|\bauthorized_keys\b/i,
  ],
  [
    'T1484.001',
    'gpo gpos group',
    /\b(?:modif|abus|chang|alter|creat|deploy|distribut|push|via|through|us)\w*\b[^.!?]{0,40}\b(?:group policy|gpos?)\b|\b(?:group policy(?: objects?)?|gpos?)\b[^.!?]{0,40}\b(?:to (?:deploy|distribute|push|spread)|modif)/i,
  ],
  [
    'T1068',
    'privilege privileges elevate elevated escalate',
    /\b(?:exploit\w*|vulnerabilit\w+|flaws?|cve-\d{4}-\d+|byovd|vulnerable drivers?)\b[^.!?]{0,70}\b(?:to|for|allow\w*|enabl\w+|gain\w*)\b[^.!?]{0,30}\b(?:elevate|escalate|gain|local privilege|system|root)[^.!?]{0,30}\bprivileges?\b|\blocal privilege escalation (?:exploit|vulnerabilit|flaw)/i,
  ],
  ['T1548.002', 'uac account', /\bbypass\w*\b[^.!?]{0,30}\b(?:uac|user account control)\b|\buac[- ]bypass/i],
  ['T1611', 'container', /\bcontainer escapes?\b|\bescap\w+\b[^.!?]{0,30}\bcontainers?\b/i],
  // Defense evasion
  [
    'T1574.001',
    'dll dlls side-loading sideloading sideload sideloads sideloaded side-load side-loaded side-loads hijacking loaded',
    /\bside-?load(?:s|ed|ing|er)?\b|\bdll (?:search[- ]order )?hijack|\bdlls?\b[^.!?]{0,60}\bloaded by (?:an? )?(?:[\w-]+ ){0,3}(?:legitimate|signed|benign|trusted)|\bloaded by (?:an? )?(?:copy of )?(?:an? )?(?:legitimate|signed) (?:[\w-]+ ){0,3}(?:file|binary|executable|program|application)\b/i,
  ],
  [
    'T1055',
    'inject injects injected injecting injection',
    /\bprocess (?:injection|hollowing)\b|\binject(?:s|ed|ing)\b[^.!?]{0,60}\b(?:process(?:es)?|explorer\.exe|svchost\.exe|memory|\w+\.exe)\b/i,
  ],
  ['T1620', 'reflective reflectively', /\breflective(?:ly)?(?: \w+)? (?:load|inject|dll)/i],
  ['T1014', 'rootkit rootkits', /\brootkits?\b/i],
  ['T1542.003', 'bootkit bootkits', /\bbootkits?\b/i],
  [
    'T1027.002',
    'packed packer upx vmprotect themida packing',
    /\b(?:packed|packer|packing)\b[^.!?]{0,40}\b(?:upx|vmprotect|themida|custom|aspack|enigma)|\b(?:upx|vmprotect|themida|custom packer)\b/i,
  ],
  ['T1027', 'obfuscated obfuscation obfuscates obfuscate obfuscating', /\bobfuscat(?:ed|es?|ion|ing)\b/i],
  ['T1027.003', 'steganography steganographic', /\bsteganograph/i],
  [
    'T1140',
    'decrypt decrypts decrypted decode decodes decoded deobfuscate deobfuscates de-obfuscate de-obfuscates decompress decompresses decryption',
    new RegExp(
      String.raw`^(?![^]*\b(?:ransom|decryptors?|decryption (?:tools?|keys?)|for free|victims? decrypt))[^]*\b(?:decrypt|decod|de-?obfuscat|decompress)(?:s|es|e|ed|ing|ion)?\b[^.!?]{0,60}\b(?:${payload}|strings?|config\w*|next stage|code|resources?|and (?:run|execut|load)\w*)`,
      'i',
    ),
  ],
  [
    'T1553.002',
    'signed certificate certificates signature code-signing code-signed',
    /\b(?:digitally|code)[- ]sign(?:ed|ing)\b|\bsigned (?:with|by|using|installers?|drivers?|binar(?:y|ies)|malware|executables?|with digital)\b[^.!?]{0,60}|\b(?:stolen|revoked|valid|fraudulent|legitimate|expired)(?: [\w-]+){0,2} (?:certificates?|signatures?)\b/i,
  ],
  ['T1553.005', 'mark-of-the-web motw mark', /\bmark[- ]of[- ]the[- ]web\b|\bmotw\b/i],
  [
    'T1036',
    'masquerade masquerades masqueraded masquerading disguise disguised disguises disguising',
    /\b(?:masquerad(?:e|es|ed|ing)|disguis(?:ed|es|ing)(?: (?:itself|themselves|the \w+))?)(?: itself)? as\b[^.!?]{0,60}\b(?:file|files|software|app|apps|application|applications|updates?|updater|installer|installers|documents?|services?|process|processes|tools?|web server|utility|plugin|program|library|executable|png|pdf|jpe?g|word|excel|invoices?)\b|\bdisguised (?:executable|file|installer|malware|payload)/i,
  ],
  [
    'T1562.001',
    'antivirus edr defender amsi security byovd',
    /\b(?:disabl|terminat|kill|uninstall|tamper|impair|unhook|neutrali[sz]|turn(?:s|ed|ing)? off)\w*\b[^.!?]{0,50}\b(?:antivirus|anti-virus|edr|windows defender|microsoft defender|defender|amsi|security (?:tools?|software|products?|solutions?)|endpoint (?:protection|security|detection))\b|\bbypass\w*\b[^.!?]{0,20}\b(?:amsi|edr|(?:windows |microsoft )?defender)\b|\bbyovd\b|\bbring[- ]your[- ]own[- ]vulnerable[- ]driver|\bedr[- ]kill/i,
  ],
  [
    'T1070.001',
    'log logs',
    /\b(?:clear|wip|delet|eras)(?:e|es|ed|ing|s)?\b[^.!?]{0,30}\b(?:windows )?(?:event|system|security) logs?\b/i,
  ],
  [
    'T1497',
    'sandbox sandboxes sandboxed virtual vm vms debugger emulator virtualization',
    /\b(?:check|detect|evad|avoid|anti|bypass|determin|look|identif)\w*\b[- ]?[^.!?]{0,50}\b(?:sandbox(?:es|ed|ing)?|virtual machines?|vms?|virtuali[sz]ation|emulators?|analysis environments?)\b|\b(?:sandbox|vm)[- ](?:evasion|detection|aware)/i,
  ],
  ['T1480', 'geofencing geofenced guardrails guardrail', /\bgeo-?fenc|\bexecution guardrails?\b/i],
  ['T1564.001', 'hidden', /\bhidden (?:files?|directories|directory|folders?|attributes?)\b/i],
  ['T1564.006', 'virtual vm vms', /\bhidden virtual machines?\b|\b(?:rogue|hidden) vms?\b/i],
  ['T1218.005', 'mshta mshta.exe', /\bmshta(?:\.exe)?\b/i],
  ['T1218.010', 'regsvr32 regsvr32.exe', /\bregsvr32(?:\.exe)?\b/i],
  ['T1218.011', 'rundll32 rundll32.exe', /\brundll32(?:\.exe)?\b/i],
  ['T1218.007', 'msiexec msiexec.exe', /\bmsiexec(?:\.exe)?\b/i],
  ['T1127.001', 'msbuild msbuild.exe', /\bmsbuild(?:\.exe)?\b/i],
  ['T1197', 'bitsadmin bits', /\bbitsadmin\b|\bbits jobs?\b/i],
];
