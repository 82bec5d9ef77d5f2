//! `troupe login` and `troupe logout`.

use super::{
    address::Address,
    api::{Credentials, Server},
    ask::Answers,
    error::{ClientError, Result},
    kept::{Place, SignIn},
    say, warn,
};

/// How often somebody may type a code.
const CODES_MAX: usize = 3;

/// Who signs in where.
pub struct Login {
    /// The server.
    pub address: Address,
    /// The person's address, where they said it.
    pub email: Option<String>,
}

impl Login {
    /// Signs in, and keeps that.
    pub async fn run(self, place: &Place, mut answers: Answers) -> Result<()> {
        let Self { address, email } = self;
        let server = Server::new(&address)?;
        let install_id = {
            let mut locked = place.lock()?;
            let id = locked.kept.machine_id()?;
            locked.save()?;
            id
        };
        let email = match email {
            Some(email) => email,
            None => Answers::open("E-mail: ", "Say who signs in: --email.")?,
        };
        let password = answers.secret("Password: ", "Hand the password over: --password-stdin.")?;
        let credentials = Credentials { email: email.trim(), password: &password, otp: None, install_id: &install_id };
        let mut sign_in = match server.sign_in(&credentials).await {
            Err(error) if error.is("code_wanted") => with_code(&server, credentials, &mut answers).await?,
            outcome => outcome?,
        };
        let earlier = {
            let mut locked = place.lock()?;
            let earlier = locked.kept.servers.get(&address).cloned();
            if let Some(earlier) = earlier.as_ref().filter(|earlier| earlier.user_id == sign_in.user_id) {
                sign_in.keys = earlier.keys.clone();
            }
            locked.kept.servers.insert(address.clone(), sign_in.clone());
            locked.save()?;
            earlier
        };
        say(format_args!("You are signed in at {address} as {}.", email.trim()));
        if let Some(mut earlier) = earlier {
            if earlier.user_id == sign_in.user_id {
                // The new sign-in goes on with them.
                earlier.keys.clear();
            }
            // The earlier sign-in ends by itself, if not now; the new one counts all the same.
            drop(end(&address, &earlier).await);
        }
        Ok(())
    }
}

/// Signs in with a code, too; whoever sits at the terminal may mistype it.
async fn with_code(server: &Server, credentials: Credentials<'_>, answers: &mut Answers) -> Result<SignIn> {
    for _ in 1..CODES_MAX {
        let code = code(answers)?;
        match server.sign_in(&Credentials { otp: Some(&code), ..credentials }).await {
            Err(error) if error.is("wrong_code") && answers.is_patient() => warn(error),
            outcome => return outcome,
        }
    }
    let code = code(answers)?;
    server.sign_in(&Credentials { otp: Some(&code), ..credentials }).await
}

/// Shows the second factor; whoever sits at the terminal may mistype it.
pub async fn step_up(server: &Server, answers: &mut Answers) -> Result<()> {
    for _ in 1..CODES_MAX {
        match server.step_up(&code(answers)?).await {
            Err(error) if error.is("wrong_code") && answers.is_patient() => warn(error),
            outcome => return outcome,
        }
    }
    server.step_up(&code(answers)?).await
}

fn code(answers: &mut Answers) -> Result<String> {
    let instead =
        "Hand the code of your second factor over in a line of standard input: --password-stdin, --otp-stdin.";
    let code = answers.secret("Code of your authenticator app: ", instead)?;
    Ok(code.trim().to_owned())
}

/// Ends the sign-in at a server with this machine's keys, and forgets them, even if the server can't be told.
pub async fn logout(place: &Place, typed: Option<&str>) -> Result<()> {
    let (address, sign_in) = place.read()?.server(typed)?;
    let ended = end(&address, &sign_in).await;
    let mut locked = place.lock()?;
    // Somebody may have signed in meanwhile.
    if locked.kept.servers.get(&address).is_some_and(|kept| kept.token == sign_in.token) {
        locked.kept.servers.remove(&address);
        locked.save()?;
    }
    match ended {
        Ok(()) => {
            say(format_args!("You are signed out at {address}."));
            Ok(())
        }
        Err(why) => Err(ClientError::Untold { address, why: Box::new(why) }),
    }
}

/// Has the server end the keys and the sign-in. What is over there already is as it should be.
async fn end(address: &Address, sign_in: &SignIn) -> Result<()> {
    let server = Server::with(address, sign_in)?;
    for (org_id, key) in &sign_in.keys {
        match server.key_delete(org_id, &key.key_id).await {
            Err(ClientError::SignInEnded(_)) => return Ok(()),
            Err(ClientError::Refused(_)) => {}
            outcome => outcome?,
        }
    }
    match server.sign_out().await {
        Err(ClientError::SignInEnded(_)) => Ok(()),
        outcome => outcome,
    }
}
